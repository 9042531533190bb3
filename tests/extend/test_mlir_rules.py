"""Lowering rules that build operations with MLIR's Python bindings."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.core import ShapedArray
from sagax.extend import mlir as extended
from sagax.extend.core import Primitive
from sagax.interpreters import batching, mlir


def primitive(name, rule, **options):
    p = Primitive(name)
    p.def_abstract_eval(lambda x, **_: x)
    mlir.register_lowering(p, rule, **options)
    return p


def test_a_rule_builds_operations_with_parameters():
    def scaled(ctx, x, *, factor):
        (aval,) = ctx.avals_in
        assert aval == ctx.avals_out[0] and ctx.module_context.platforms == ("cpu",)
        constant = mlir.ir_constant(np.full(aval.shape, factor, aval.dtype))
        return [extended.dialects.stablehlo.MulOp(x, constant).result]

    p = primitive("scaled", scaled)
    batching.defvectorized(p)

    def f(x):
        return p.bind(x, factor=3.0) + p.bind(x, factor=4.0)

    x = snp.arange(3.0)
    np.testing.assert_array_equal(sagax.jit(f)(x), 7 * np.arange(3.0))
    np.testing.assert_array_equal(p.bind(x, factor=2.0), 2 * np.arange(3.0))
    np.testing.assert_array_equal(sagax.vmap(f)(x), 7 * np.arange(3.0))


def test_a_rule_calls_functions_of_arrays_and_of_python():
    seen = []

    def look(ctx, x):
        found, token, _ = mlir.emit_python_callback(
            ctx,
            lambda a: (seen.append(np.array(a)), np.asarray(a) + 1)[1],
            None,
            [x],
            ctx.avals_in,
            ctx.avals_out,
            has_side_effect=True,
        )
        assert token is None
        return mlir.lower_fun(snp.square, multiple_results=False)(ctx, *found)

    p = primitive("look", look)
    assert float(sagax.jit(p.bind)(2.0)) == 9.0
    assert [float(x) for x in seen] == [2.0]


def test_a_rule_for_one_platform_and_one_that_does_not_verify():
    p = primitive("only_tpu", lambda ctx, x: [x], platform="tpu")
    with pytest.raises(NotImplementedError, match="only_tpu"):
        sagax.jit(p.bind)(1.0)
    wrong = primitive("wrong", lambda ctx, x: [mlir.ir_constant(np.zeros(3, np.float32))])
    with pytest.raises(Exception, match=r"tensor<3xf32>|result types"):
        sagax.jit(wrong.bind)(1.0)


def test_types_and_attributes():
    with mlir.make_ir_context():
        assert str(mlir.aval_to_ir_type(ShapedArray((2, 0), "bfloat16"))) == "tensor<2x0xbf16>"
        assert str(mlir.ir_attribute(np.float32(1.5))) == "1.500000e+00 : f32"
        assert str(mlir.ir_attribute(np.array([1, 2], np.int8))) == "dense<[1, 2]> : tensor<2xi8>"
