"""Implement `ffi_call`: call native functions that users register with the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src.callbacks import vmap_methods
from sagax._src.core import dims
from sagax._src.core.avals import AbstractToken, ShapedArray, intern_aval
from sagax._src.core.effects import Effect, no_effects
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.value import aval_of, is_operand, not_an_array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.compiler_attributes import Attributes
from sagax._src.primitives.unsupported import UnsupportedError

_API_NAME = "ffi_call"
_effect = frozenset({Effect("ffi")})

ffi_call_p = Primitive("ffi_call", family=OPAQUE, multiple_results=True, is_higher_order=True)


@ffi_call_p.abstract
def _(*avals: ShapedArray, result_avals: tuple, **_: Any) -> list:
    return list(result_avals)


@ffi_call_p.effect
def _(*, has_side_effect: bool, **_: Any) -> frozenset:
    return _effect if has_side_effect else no_effects


@ffi_call_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.bind_without_jvp(
        ffi_call_p,
        primals,
        tangents,
        params,
        f"The FFI call to `{params['target_name']}` cannot be differentiated",
        function=_API_NAME,
        fix="say its derivative with custom_jvp or custom_vjp",
    )


@ffi_call_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    def batched_layouts(batched: list[bool]) -> dict[str, Any]:
        inputs = zip(batched, params["input_layouts"], strict=True)
        return {
            "input_layouts": tuple(_batched_layout(o) if b else o for b, o in inputs),
            "output_layouts": tuple(map(_batched_layout, params["output_layouts"])),
        }

    return vmap_methods.batch_call(
        ffi_call_p,
        axis.size,
        args,
        in_dims,
        params,
        batched_params=batched_layouts,
        function=_API_NAME,
        argument="vmap_method",
        got=None,
    )


def _batched_layout(layout: tuple) -> tuple:
    """Add an outermost dimension to a layout (minor dimensions first)."""
    return (*(d + 1 for d in layout), 0)


@ffi_call_p.lower
def _(
    b: Any,
    *args: Any,
    target_name: str,
    has_side_effect: bool,
    input_layouts: tuple,
    output_layouts: tuple,
    input_output_aliases: tuple,
    custom_call_api_version: int,
    legacy_backend_config: str | None,
    attributes: Attributes,
    **_: Any,
) -> list:
    extra = {"has_side_effect": "true"} if has_side_effect else {}
    if custom_call_api_version >= 4:
        extra["backend_config"] = b.attribute(attributes)
    elif legacy_backend_config is not None:
        extra["backend_config"] = b.attribute(legacy_backend_config)
    aliases = ", ".join(
        f"#stablehlo.output_operand_alias<output_tuple_indices = {[r] if len(b.outs) > 1 else []}, "
        f"operand_index = {i}, operand_tuple_indices = []>"
        for i, r in input_output_aliases
    )
    if not all(dims.is_static(a.shape) for a in (*(x.aval for x in args), *b.outs)):
        raise UnsupportedError(
            "a call of a native function needs sizes that are numbers",
            function=_API_NAME,
            got=" and ".join(str(x.aval.shape) for x in args),
        )
    return b.custom_call(
        target_name,
        args,
        b.outs,
        api_version=f"{custom_call_api_version} : i32",
        operand_layouts=_layout_text(input_layouts),
        result_layouts=_layout_text(output_layouts),
        output_operand_aliases=f"[{aliases}]",
        **extra,
    )


def _layout_text(layouts: Sequence[tuple]) -> str:
    texts = [f"dense<{list(o) if o else ''}> : tensor<{len(o)}xindex>" for o in layouts]
    return f"[{', '.join(texts)}]"


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Any = None,
    input_output_aliases: Mapping[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """Return a function that calls the native function registered as `target_name`.

    Its positional arguments are arrays. Its keyword arguments are attributes of the call: numbers (an int
    is passed as int64, a float as float64, a NumPy scalar as its dtype), strings, arrays, dicts.

    Args:
      target_name: the name passed to `register_ffi_target`.
      result_shape_dtypes: shape and dtype of the result, as a `ShapeDtypeStruct`; a sequence of them for
        several results.
      has_side_effect: keep the call even if its results are unused.
      vmap_method: the rule for `vmap`. 'sequential': one call for each example, in a loop;
        'sequential_unrolled': the same, without a loop; 'broadcast_all': one call, all operands and
        results with one more leading dimension; 'expand_dims': the same, but unmapped operands have
        size 1 there; None: an error.
      input_layouts, output_layouts: for each array None (row-major), or the order of its dimensions
        from major to minor.
      input_output_aliases: maps the index of an operand to that of the result that overwrites it.
      custom_call_api_version: 4 is XLA's typed FFI. Older versions take `legacy_backend_config`, a string.

    Raises ArgumentValueError or ArgumentError if these do not fit the operands. Derivatives need
    custom_jvp or custom_vjp.

    >>> f = sagax.ffi.ffi_call("my_norm", sagax.ShapeDtypeStruct((3,), "float32"))
    >>> sagax.eval_shape(lambda x: f(x, eps=1e-5), sagax.ShapeDtypeStruct((3,), "float32"))
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    vmap_methods.check_method(_API_NAME, vmap_method)
    if custom_call_api_version >= 4 and legacy_backend_config is not None:
        raise ArgumentValueError(
            function=_API_NAME,
            argument="legacy_backend_config",
            got=legacy_backend_config,
            expected="None, as custom_call_api_version is 4 or more",
            fix="pass attributes to the function that ffi_call returns, by keyword",
        )
    several = isinstance(result_shape_dtypes, (tuple, list))
    results = tuple(result_shape_dtypes) if several else (result_shape_dtypes,)
    avals = tuple(_result_aval(i, r) for i, r in enumerate(results))
    if not several and output_layouts is not None:
        output_layouts = (output_layouts,)
    out_layouts = _canonical_layouts("output_layouts", output_layouts, avals)

    def call(*args: Any, **attributes: Any) -> Any:
        for i, x in enumerate(args):
            if not is_operand(x):
                raise not_an_array(x).attach(function=_API_NAME, argument=f"args[{i}]")
        ins = [aval_of(x) for x in args]
        outs = ffi_call_p.bind(
            *args,
            result_avals=avals,
            target_name=str(target_name),
            has_side_effect=bool(has_side_effect),
            vmap_method=vmap_method,
            input_layouts=_canonical_layouts("input_layouts", input_layouts, ins),
            output_layouts=out_layouts,
            input_output_aliases=check_aliases(_API_NAME, input_output_aliases, ins, avals),
            custom_call_api_version=custom_call_api_version,
            legacy_backend_config=legacy_backend_config,
            attributes=Attributes(_API_NAME, attributes),
        )
        return type(result_shape_dtypes)(outs) if several else outs[0]

    return call


def _result_aval(i: int, result: Any) -> ShapedArray:
    if isinstance(result, AbstractToken):
        raise UnsupportedError(
            "results that are tokens are not supported",
            function=_API_NAME,
            argument=f"result_shape_dtypes[{i}]",
            got=result,
            fix="leave the token out and pass has_side_effect=True",
        )
    if not (hasattr(result, "shape") and hasattr(result, "dtype")):
        raise ArgumentValueError(
            f"All elements of result_shape_dtypes must have 'shape' and 'dtype' attributes. Got {result!r} at position {i}.",
            function=_API_NAME,
            argument="result_shape_dtypes",
            got=result,
            expected="a ShapeDtypeStruct, or a sequence of them",
        )
    return intern_aval(tuple(result.shape), np.dtype(result.dtype), False, None)


def _canonical_layouts(name: str, layouts: Any, avals: Sequence[ShapedArray]) -> tuple:
    """Convert layouts to the engine's order, minor dimensions first."""
    if layouts is None:
        return tuple(tuple(reversed(range(a.ndim))) for a in avals)
    layouts = tuple(layouts)
    if len(layouts) != len(avals):
        arrays = "input arguments" if name == "input_layouts" else "outputs"
        raise ArgumentValueError(
            f"The number of {arrays} ({len(avals)}) must equal the number of {arrays.split()[0]} layouts ({len(layouts)}).",
            function=_API_NAME,
            argument=name,
            got=layouts,
            expected=f"{len(avals)} layouts",
        )
    out = []
    for i, (layout, aval) in enumerate(zip(layouts, avals, strict=True)):
        order = range(aval.ndim) if layout is None else getattr(layout, "major_to_minor", layout)
        order = tuple(map(int, order))
        if sorted(order) != list(range(aval.ndim)):
            raise ArgumentValueError(
                function=_API_NAME,
                argument=f"{name}[{i}]",
                got=layout,
                expected=f"None, or the dimensions 0 to {aval.ndim - 1} of {aval} in the order from major to minor",
            )
        out.append(order[::-1])
    return tuple(out)


def check_aliases(
    function: str,
    aliases: Mapping[int, int] | None,
    ins: Sequence[ShapedArray],
    outs: Sequence[ShapedArray],
) -> tuple:
    pairs = tuple(sorted((aliases or {}).items()))
    for i, o in pairs:
        for side, index, avals in (("input", i, ins), ("output", o, outs)):
            if not 0 <= index < len(avals):
                raise ArgumentValueError(
                    f"input_output_aliases contains the mapping '{i}:{o}' with {side} index {index} outside the range [0, {len(avals)}).",
                    function=function,
                    argument="input_output_aliases",
                    got=aliases,
                )
        if ins[i].shape != outs[o].shape or ins[i].dtype != outs[o].dtype:
            raise ArgumentValueError(
                f"input_output_aliases contains the mapping '{i}:{o}' referring to an input with abstract value {ins[i]} and an output with a different abstract value {outs[o]}.",
                function=function,
                argument="input_output_aliases",
                got=aliases,
                expected="pairs of equal shape and dtype",
            )
    return pairs
