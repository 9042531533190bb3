"""Make samplers: check arguments, then draw in a function compiled once per shape and dtype."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from sagax._src.api.jit import jit
from sagax._src.core.value import Array
from sagax._src.diagnostics.boundary import Boundary
from sagax._src.primitives.resharding import with_out_sharding
from sagax.random._arguments import float_dtype, full_shape, parameter, shape_of, typed_key

_P = ParamSpec("_P")
_within_sampler = Boundary()  # users need not know that a sampler is jitted


def cached_jit(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `body(*static)(*arrays)` once for each set of static arguments.

    `body(*static)` returns the function of arrays to be compiled. In a jaxpr it is one call of that
    function.
    """

    @functools.lru_cache(maxsize=8192)
    def specialized(*static: Any) -> Any:
        function = body(*static)
        function.__name__ = function.__qualname__ = body.__name__
        compiled = jit(function)
        compiled._boundary = _within_sampler
        return compiled

    functools.update_wrapper(specialized, body)
    return specialized


def sampler(
    *parameters: str,
    convert: Callable[..., Any] = parameter,
    dtype: Callable[[str, Any], Any] = float_dtype,
    shape: Callable[..., tuple] = full_shape,
    **options: Callable[[str, Any], Any],
) -> Callable[[Callable[_P, Array]], Callable[_P, Array]]:
    """Make a public sampler of a function that draws, whose signature becomes that of the sampler.

    The function is traced. It receives a typed `key`, the `shape` of the result, its `dtype`, the
    `parameters` as arrays of that dtype, and `options` as their checks return them.

    Args:
      parameters: the names of numeric parameters.
      convert: (function, argument, value, dtype) to an array.
      dtype: (function, dtype) to the dtype of the result.
      shape: (function, shape, *parameters) to the shape of the result.
      options: names of further arguments, and (function, value) to a hashable value.
    """

    def decorate(draw: Callable[_P, Array]) -> Callable[_P, Array]:
        name = draw.__name__
        bind, names = _binder(draw)
        takes_dtype = "dtype" in names
        shape_at = names.index("shape")
        dtype_at = names.index("dtype") if takes_dtype else 0
        parameters_at = [(x, names.index(x)) for x in parameters]
        options_at = [(check, names.index(x)) for x, check in options.items()]
        static_names = ("shape", "dtype", *options) if takes_dtype else ("shape", *options)
        shape_is_optional = inspect.signature(draw).parameters["shape"].default is None
        traced: Callable[..., Array] = draw

        def specialized(*static: Any) -> Callable[..., Array]:
            settings = dict(zip(static_names, static))
            return lambda key, *xs: traced(key, **dict(zip(parameters, xs)), **settings)

        specialized.__name__ = f"_{name}"
        compiled = cached_jit(specialized)

        @functools.wraps(draw)
        def call(*args: Any, **kwargs: Any) -> Any:
            sharding = kwargs.get("out_sharding")
            if sharding is not None and "out_sharding" in names:
                del kwargs["out_sharding"]
                return with_out_sharding(name, lambda *xs: call(*xs, **kwargs), args, sharding)
            values = bind(args, kwargs)
            key = typed_key(name, values[0])
            static = [check(name, values[at]) for check, at in options_at]
            result = None
            if takes_dtype:
                result = dtype(name, values[dtype_at])
                static.insert(0, result)
            arrays = [convert(name, x, values[at], result) for x, at in parameters_at]
            size = values[shape_at]
            if size is None and not shape_is_optional:
                shape_of(name, size)  # raises an error
            return compiled(shape(name, size, *arrays), *static)(key, *arrays)

        call.__doc__ = _with_errors(draw.__doc__ or "", takes_dtype, [*options], [*parameters])
        return call

    return decorate


def _binder(function: Callable[..., Any]) -> tuple[Callable[[tuple, dict], Sequence], list[str]]:
    """A quick way to bind arguments to the parameters of `function`, and the names of these."""
    signature = inspect.signature(function).parameters
    names = list(signature)
    defaults = tuple([p.default for p in signature.values()])
    most = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in signature.values())
    least = defaults.count(inspect.Parameter.empty)

    def bind(args: tuple, kwargs: dict) -> Sequence:
        count = len(args)
        if not kwargs and least <= count <= most:
            return args + defaults[count:]
        values = [*args, *defaults[count:]]
        known = names[count:]
        if count <= most and all(name in known for name in kwargs):
            for name, value in kwargs.items():
                values[names.index(name)] = value
            if not any(value is inspect.Parameter.empty for value in values):
                return values
        return function(*args, **kwargs)  # raises Python's error about the arguments

    return bind, names


def _with_errors(doc: str, dtype: bool, options: list[str], parameters: list[str]) -> str:
    """A docstring with the errors that every sampler raises, before its example."""
    wrong = [
        "an array of keys",
        *(f"another `{x}`" for x in (["dtype"] if dtype else []) + options),
    ]
    if parameters:
        wrong.append(f"a shape that {', '.join(parameters)} do not broadcast to")
    errors = f"Raises TypeError if `key` is no key, ValueError for {', '.join(wrong)}."
    return doc.replace("\n\n    >>>", f"\n\n    {errors}\n\n    >>>", 1)
