"""Register lowering rules of primitives: functions of other operations, or builders of MLIR operations.

>>> import sagax
>>> from sagax.extend.core import Primitive
>>> from sagax.interpreters import mlir
>>> double_p = Primitive("double")
>>> rule = double_p.def_abstract_eval(lambda x: x)
>>> mlir.register_lowering(double_p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
>>> sagax.jit(double_p.bind)(3.0)
Array(6., dtype=float32, weak_type=True)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.core.value import aval_of
from sagax._src.lowering import mlir_rules, text
from sagax._src.lowering.mlir_rules import LoweringRuleContext, ModuleContext
from sagax._src.xla import bindings
from sagax._src.xla import mlir as _mlir

__all__ = [
    "LoweringRuleContext",
    "ModuleContext",
    "aval_to_ir_type",
    "aval_to_ir_types",
    "dense_int_array",
    "dense_int_elements",
    "dtype_to_ir_type",
    "emit_python_callback",
    "flatten_ir_types",
    "flatten_ir_values",
    "i32_attr",
    "i64_attr",
    "ir_attribute",
    "ir_constant",
    "lower_fun",
    "make_ir_context",
    "module_to_bytecode",
    "module_to_string",
    "register_lowering",
    "shape_tensor",
    "token_type",
]


class _AsFunction:
    """The result of `lower_fun`: a function of arrays that a primitive is lowered to."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun, self.multiple_results = fun, multiple_results

    def __call__(self, ctx: LoweringRuleContext, *values: Any, **params: Any) -> list[Any]:
        """Append the operations of the function, within another rule; return its results."""
        return mlir_rules.call_function(ctx, self.fun, values, params, self.multiple_results)


def _by_mlir(prim: Primitive, rule: Callable[..., Any]) -> Callable[..., Any]:
    def lower(builder: Any, *operands: Any, **params: Any) -> Any:
        return mlir_rules.lower_by_mlir(prim, rule, builder, operands, params)

    return lower


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Any:
    """Build a rule for `register_lowering` from `fun`, a function of arrays.

    >>> rule = mlir.lower_fun(lambda x: [x + 1])
    """
    return _AsFunction(fun, multiple_results)


def register_lowering(
    prim: Primitive, rule: Any, platform: str | None = None, inline: bool = True, **_: Any
) -> None:
    """Register the lowering rule of a primitive, for all platforms or for one ("cpu", "cuda").

    Args:
      prim: the primitive.
      rule: the result of `lower_fun`; or a function `rule(ctx, *values, **params)` that builds operations
        with MLIR's Python bindings (`sagax.extend.mlir`) and returns their results.
      platform: the platform of the rule; by default all.
      inline: ignored; the function is always inlined.

    >>> from sagax.extend.core import Primitive
    >>> mlir.register_lowering(Primitive("one_more"), mlir.lower_fun(lambda x: [x + 1]))
    """
    if not isinstance(rule, _AsFunction):
        if platform is None:
            prim.lower_rule = _by_mlir(prim, rule)
        else:
            prim.lower_on["cuda" if platform == "gpu" else platform] = _by_mlir(prim, rule)
        return
    fun = rule.fun
    if rule.multiple_results and not prim.multiple_results:
        several = fun

        def fun(*args: Any, **params: Any) -> Any:
            (result,) = several(*args, **params)
            return result

    if platform is None:
        prim.composite_rule = fun
        return

    def lower(builder: Any, *operands: Any, **params: Any) -> Any:
        def flat(*xs: Any) -> Any:
            out = fun(*xs, **params)
            return out if prim.multiple_results else [out]

        jaxpr, consts = stage(flat, [x.aval for x in operands])
        outs = builder.inline(jaxpr, operands, [builder.constant(c) for c in consts])
        return outs if prim.multiple_results else outs[0]

    prim.lower_on["cuda" if platform == "gpu" else platform] = lower


# Parts of rules that build MLIR operations -------------------------------------------------------------
# They need a current MLIR context, as rules have.


def _ir() -> Any:
    return bindings.module("mlir.ir")


def dtype_to_ir_type(dtype: Any) -> Any:
    """Return the MLIR type of elements of a dtype.

    >>> with mlir.make_ir_context():
    ...     str(mlir.dtype_to_ir_type(np.dtype("float32")))
    'f32'
    """
    return _ir().Type.parse(text.element_type(np.dtype(dtype)))


def aval_to_ir_type(ctx: Any, aval: Any = None) -> Any:
    """Return the MLIR type of arrays of a type. `ctx`, a module context, may be left out.

    >>> from sagax.core import ShapedArray
    >>> with mlir.make_ir_context():
    ...     str(mlir.aval_to_ir_type(ShapedArray((2, 3), "int8")))
    'tensor<2x3xi8>'
    """
    return _ir().Type.parse(text.type_text(ctx if aval is None else aval))


def aval_to_ir_types(ctx: Any, aval: Any = None) -> tuple[Any, ...]:
    """Return the MLIR types of values of a type: one.

    >>> from sagax.core import ShapedArray
    >>> with mlir.make_ir_context():
    ...     len(mlir.aval_to_ir_types(ShapedArray((), "int8")))
    1
    """
    return (aval_to_ir_type(ctx, aval),)


def i32_attr(i: int) -> Any:
    """Return an attribute that is an integer of 32 bits.

    >>> with mlir.make_ir_context():
    ...     str(mlir.i32_attr(3))
    '3 : i32'
    """
    ir = _ir()
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> Any:
    """Return an attribute that is an integer of 64 bits.

    >>> with mlir.make_ir_context():
    ...     str(mlir.i64_attr(3))
    '3 : i64'
    """
    ir = _ir()
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def dense_int_array(xs: Sequence[int]) -> Any:
    """Return an attribute that is an array of integers of 64 bits.

    >>> with mlir.make_ir_context():
    ...     str(mlir.dense_int_array([1, 2]))
    'array<i64: 1, 2>'
    """
    return _ir().DenseI64ArrayAttr.get([int(x) for x in xs])


def dense_int_elements(xs: Sequence[int]) -> Any:
    """Return an attribute that is a vector of integers of 64 bits.

    >>> with mlir.make_ir_context():
    ...     str(mlir.dense_int_elements([1, 2]))
    'dense<[1, 2]> : tensor<2xi64>'
    """
    return _ir().DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def ir_attribute(val: Any) -> Any:
    """Convert a number, a string, an array, or a sequence or mapping of them, to an attribute.

    >>> with mlir.make_ir_context():
    ...     str(mlir.ir_attribute({"a": [1, "b"], "c": True}))
    '{a = [1, "b"], c = true}'
    """
    ir = _ir()
    if isinstance(val, ir.Attribute):
        return val
    if isinstance(val, (bool, np.bool_)):
        return ir.BoolAttr.get(bool(val))
    if isinstance(val, (int, np.integer)):
        width = val.dtype.itemsize * 8 if isinstance(val, np.integer) else 64
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(width), int(val))
    if isinstance(val, (float, np.floating)):
        kind = np.dtype(type(val)) if isinstance(val, np.floating) else np.dtype(np.float64)
        return ir.FloatAttr.get(dtype_to_ir_type(kind), float(val), loc=ir.Location.unknown())
    if isinstance(val, str):
        return ir.StringAttr.get(val)
    if isinstance(val, Mapping):
        return ir.DictAttr.get({k: ir_attribute(v) for k, v in val.items()})
    if isinstance(val, np.ndarray):
        return _elements(val)
    return ir.ArrayAttr.get([ir_attribute(v) for v in val])


def _elements(x: np.ndarray) -> Any:
    spelled = text.tensor_type(x.shape, x.dtype)
    return _ir().Attribute.parse(f"{text.dense(np.ascontiguousarray(x))} : {spelled}")


def ir_constant(val: Any, *, const_lowering: Any = None, aval: Any = None) -> Any:
    """Append a constant: a number or an array. Python numbers have the dtype of arrays of them.

    >>> from sagax.extend.core import Primitive
    >>> from sagax.extend import mlir as extended
    >>> triple_p = Primitive("triple")
    >>> rule = triple_p.def_abstract_eval(lambda x: x)
    >>> def build(ctx, x):
    ...     three = mlir.ir_constant(np.float32(3))
    ...     return [extended.dialects.stablehlo.MulOp(x, three).result]
    >>> mlir.register_lowering(triple_p, build)
    >>> sagax.jit(triple_p.bind)(2.0)
    Array(6., dtype=float32, weak_type=True)
    """
    dtype = (aval_of(val) if aval is None else aval).dtype
    elements = _elements(np.asarray(val, dtype))
    return bindings.module("mlir.dialects.stablehlo").ConstantOp(elements).result


def shape_tensor(ctx: Any, sizes: Sequence[int]) -> Any:
    """Append a constant that is a shape: a vector of int32.

    >>> callable(mlir.shape_tensor)
    True
    """
    return ir_constant(np.asarray(sizes, np.int32))


def flatten_ir_values(xs: Iterable[Any]) -> list[Any]:
    """Flatten values, and sequences of them, to a list.

    >>> mlir.flatten_ir_values([1, (2, 3)])
    [1, 2, 3]
    """
    return [v for x in xs for v in (x if isinstance(x, (list, tuple)) else (x,))]


def flatten_ir_types(xs: Iterable[Any]) -> list[Any]:
    """Flatten types, and sequences of them, to a list.

    >>> mlir.flatten_ir_types([1, (2, 3)])
    [1, 2, 3]
    """
    return flatten_ir_values(xs)


def emit_python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[list[Any], Any, None]:
    """Append a call of a Python function of NumPy arrays; return its results, the token, and None.

    >>> callable(mlir.emit_python_callback)
    True
    """
    found = mlir_rules.python_callback(ctx, callback, operands, result_avals, has_side_effect)
    return found, token, None


def make_ir_context() -> Any:
    """Return an MLIR context with the dialects that modules use.

    >>> with mlir.make_ir_context() as context:
    ...     type(context).__name__
    'Context'
    """
    return _mlir.make_context()


def module_to_string(module: Any, enable_debug_info: bool | None = None) -> str:
    """Return the text of a module.

    >>> module = sagax.jit(lambda x: x).lower(1.0).compiler_ir()
    >>> "func.func public @main" in mlir.module_to_string(module)
    True
    """
    return module.operation.get_asm(enable_debug_info=bool(enable_debug_info))


def module_to_bytecode(module: Any) -> bytes:
    """Return the bytecode of a module.

    >>> module = sagax.jit(lambda x: x).lower(1.0).compiler_ir()
    >>> mlir.module_to_bytecode(module)[:2]
    b'ML'
    """
    written = io.BytesIO()
    module.operation.write_bytecode(file=written)
    return written.getvalue()


def token_type() -> Any:
    """Return the MLIR type of tokens.

    >>> with mlir.make_ir_context():
    ...     str(mlir.token_type())
    '!stablehlo.token'
    """
    return _ir().Type.parse("!stablehlo.token")
