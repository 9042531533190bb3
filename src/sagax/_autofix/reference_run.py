"""Run a script without transformations, to learn its expected result.

jit calls the function, vmap loops over examples, the control flow of lax is that of Python, and
differentiated values convert to numbers. A script that fails because a value is traced then has a
result to compare repairs with. One that fails even so may have a result with `assumptions`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax._autofix.assumptions as assumptions
import sagax.lax
import sagax.numpy as snp
from sagax._src import config
from sagax._src.api.autodiff_common import has_derivative
from sagax._src.api.jit import watch_calls
from sagax._src.api.vmap import vmap as real_vmap
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import ArgumentValueError, ConcretizationTypeError
from sagax._src.runtime.array import ConcreteArray
from sagax._src.trees import leaves
from sagax.tree_util import tree_map

_copies_arguments: list[bool] = []


def install(package: ModuleType, copies_arguments: bool = False) -> None:
    """Turn off the transformations of `package` (sagax) for the rest of this process.

    With `copies_arguments`, what a compiled function assigns in place stays within it.
    """
    if copies_arguments:
        _copies_arguments.append(True)
    config.config.update("jax_disable_jit", True)
    watch_calls(_call_with_arrays)
    package.__dict__["vmap"] = vmap
    for function in (scan, while_loop, fori_loop, cond, switch, loop_map):
        name = "map" if function is loop_map else function.__name__
        setattr(sagax.lax, name, function)
    for name in ("grad", "value_and_grad"):
        package.__dict__[name] = _permissive(package.__dict__[name])
    package.__dict__["pure_callback"] = _call_back
    package.__dict__["device_put"] = lambda x, *_, **__: x
    ConcreteArray.__setitem__ = _assign_in_place
    ConcreteArray.__hash__ = lambda self: hash(self.item())  # as a key of a dict of numbers
    for name, function in (("ufunc", _numpy_ufunc), ("function", _numpy_function)):
        setattr(Tracer, f"__array_{name}__", function)
    _replace_math()
    events.tracer_to_numpy.function = _concrete_array
    events.tracer_concretized.function = _record_concretization


def _call_with_arrays(jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function as jit does: with arrays for numbers, and arrays as results."""
    static = {i % len(args) for i in jitted._static_nums if -len(args) <= i < len(args)}
    names = jitted._static_names
    given = [a if i in static else _with_arrays(a) for i, a in enumerate(args)]
    named = {k: v if k in names else _with_arrays(v) for k, v in kwargs.items()}
    return tree_map(_as_array, jitted._general(tuple(given), named))


def _with_arrays(tree: Any) -> Any:
    """Return a tree with arrays for its numbers; itself if it has none, so that it can be changed."""
    changed = tree_map(_as_array, tree)
    same = all(x is y for x, y in zip(leaves(tree), leaves(changed), strict=True))
    return tree if same else changed


def _as_array(x: Any) -> Any:
    if _copies_arguments and isinstance(x, ConcreteArray):
        return snp.array(x)
    number = type(x) in (bool, int, float, complex) or isinstance(x, (np.ndarray, np.generic))
    return snp.asarray(x) if number else x


def _assign_in_place(self: ConcreteArray, index: Any, value: Any) -> None:
    """Change an array as NumPy would, for everyone who holds it: so the script means it."""
    changed = self.at[index].set(value)
    for name in ("_buffer", "_host", "_shards"):
        if hasattr(changed, name):
            setattr(self, name, getattr(changed, name))


def _numpy_ufunc(self: Tracer, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """Compute a function of NumPy by that of sagax, so that derivatives are kept."""
    function = getattr(snp, ufunc.__name__, None)
    return NotImplemented if function is None or method != "__call__" else function(*args, **kwargs)


def _numpy_function(self: Tracer, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    function = getattr(snp, func.__name__, None)
    return NotImplemented if function is None else function(*args, **kwargs)


_NAMES_OF_MATH = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "pow": "power",
}


def _replace_math() -> None:
    """Let functions of `math` keep the derivatives of traced values."""
    for name, real in list(vars(math).items()):
        function = getattr(snp, _NAMES_OF_MATH.get(name, name), None)
        if not callable(real) or function is None or isinstance(real, type):
            continue

        def call(*args: Any, real: Any = real, function: Any = function, **kwargs: Any) -> Any:
            traced = any(isinstance(x, Tracer) for x in args)
            return (function if traced else real)(*args, **kwargs)

        setattr(math, name, call)


def _permissive(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Differentiate also with respect to integers, and functions that return more than the loss."""

    @functools.wraps(transform)
    def differentiate(
        fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, **options: Any
    ) -> Callable[..., Any]:
        positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = list(args)
            for i in positions:
                given[i] = tree_map(_as_float, args[i])
            if has_aux:
                return transform(fun, argnums, True, **options)(*given, **kwargs)
            pairs: list[bool] = []

            def with_rest(*args: Any, **kwargs: Any) -> Any:  # called once, as it may have effects
                out = fun(*args, **kwargs)
                pairs.append(isinstance(out, tuple))
                return out if pairs[-1] else (out, None)

            found = transform(functools.wraps(fun)(with_rest), argnums, True, **options)
            first, second = found(*given, **kwargs)
            if pairs[-1]:
                return first, second
            return first if transform.__name__ == "grad" else (first[0], second)

        return functools.wraps(fun)(call)

    return differentiate


def _as_float(x: Any) -> Any:
    if isinstance(x, int):
        return x if isinstance(x, bool) else float(x)
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return x.astype(float) if kind in ("i", "u") else x


def _call_back(callback: Callable[..., Any], _: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function of the host without regard to the result that is declared."""
    kwargs.pop("vmap_method", None)
    kwargs.pop("sharding", None)
    return tree_map(snp.asarray, callback(*tree_map(np.asarray, args), **kwargs))


# Numbers that were read from differentiated values. Values computed from them have no derivative, so
# that gradients may be wrong.
_concretized: list[str] = []


def derivatives_lost() -> bool:
    """Return whether gradients of this run may lack terms, since tracers were made numbers."""
    return bool(_concretized)


def _record_concretization(tracer: Tracer, error: type) -> None:
    if error is ConcretizationTypeError and has_derivative(tracer):
        _concretized.append(type(tracer).__name__)


def _concrete_array(tracer: Tracer, *args: Any) -> np.ndarray:
    value = tracer.concrete()
    if value is None:
        raise TypeError("a value without a number")
    if has_derivative(tracer):
        _concretized.append(type(tracer).__name__)
    return np.asarray(value, *args)


def _is_none(x: Any) -> bool:
    return x is None


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: Any = None,
    **options: Any,
) -> Callable[..., Any]:
    """Loop over examples; named axes need the real vmap."""
    if axis_name is not None:
        return real_vmap(fun, in_axes, out_axes, axis_name, axis_size, **options)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        axes = assumptions.mapped_axes(in_axes, axes, args)
        sizes: set[int] = set()

        def note(axis: Any, part: Any) -> None:
            if axis is not None:
                sizes.update(np.shape(x)[axis] for x in leaves(part))

        for axis, arg in zip(axes, args, strict=True):
            tree_map(note, axis, arg, is_leaf=_is_none)
        for value in kwargs.values():
            tree_map(note, 0, value, is_leaf=_is_none)
        if len(sizes) != 1:  # the real vmap explains the mistake
            return real_vmap(fun, in_axes, out_axes, axis_name, axis_size)(*args, **kwargs)

        def example(i: int, axis: Any, part: Any) -> Any:
            if axis is None:
                return part
            return tree_map(lambda x: snp.take(snp.asarray(x), i, axis=axis), part)

        outs: list[Any] = []
        for i in range(sizes.pop()):
            one = [
                tree_map(lambda axis, part, i=i: example(i, axis, part), a, arg, is_leaf=_is_none)
                for a, arg in zip(axes, args, strict=True)
            ]
            named = {k: example(i, 0, v) for k, v in kwargs.items()}
            outs.append(fun(*one, **named))
        if not isinstance(out_axes, int):
            return tree_map(lambda *xs: snp.stack(xs), *outs)
        return tree_map(lambda *xs: snp.stack(xs, axis=out_axes), *outs)

    return mapped


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    **_: Any,
) -> Any:
    sizes = {len(x) for x in leaves(xs)} if xs is not None else set()
    if len(sizes) > 1:  # no meaning to compare with
        raise ArgumentValueError(f"scan: the sequences have different lengths, {sorted(sizes)}")
    n = sizes.pop() if sizes else length
    carry, outs = init, []
    order = range(n or 0)
    for i in reversed(order) if reverse else order:
        carry, y = f(carry, tree_map(lambda x, i=i: x[i], xs))
        outs.append(y)
    if reverse:
        outs.reverse()
    return carry, tree_map(lambda *ys: snp.stack([snp.asarray(y) for y in ys]), *outs)


def while_loop(
    cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any, **_: Any
) -> Any:
    while bool(cond_fun(init_val)):
        init_val = body_fun(init_val)
    return init_val


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, **_: Any) -> Any:
    for i in range(int(lower), int(upper)):
        init_val = body_fun(i, init_val)
    return init_val


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, **_: Any) -> Any:
    return (true_fun if bool(pred) else false_fun)(*operands)


def switch(index: Any, branches: Sequence[Any], *operands: Any, **_: Any) -> Any:
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def loop_map(f: Callable[..., Any], xs: Any, **_: Any) -> Any:
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]
