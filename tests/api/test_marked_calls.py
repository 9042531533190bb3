"""Attributes that XLA reads: of calls, of blocks and of values."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental.layout import Layout, with_layout_constraint
from sagax.experimental.scheduling_groups import scheduling_group
from sagax.experimental.xla_metadata import (
    fuse_limit,
    must_fuse_call,
    set_xla_metadata,
    xla_metadata_call,
    xla_metadata_call2,
)


def text(fun, *args):
    return sagax.jit(fun).lower(*args).as_text()


# The attributes below are those that jax 0.12.0 writes for the same functions.


def test_a_call_carries_attributes_and_so_do_its_derivatives():
    f = xla_metadata_call(lambda y: snp.sin(y) * 2, a=1, b=True)
    marks = 'mhlo.frontend_attributes = {a = "1", b = "true"}'
    assert f"call @xla_metadata_call(%arg0) {{{marks}}}" in text(f, 1.0)
    assert text(sagax.grad(f), 1.0).count(marks) == 2
    np.testing.assert_allclose(sagax.jit(f)(1.0), 2 * np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(sagax.grad(f)(1.0), 2 * np.cos(1.0), rtol=1e-6)
    np.testing.assert_allclose(sagax.vmap(f)(snp.ones(2)), [2 * np.sin(1.0)] * 2, rtol=1e-6)
    np.testing.assert_allclose(sagax.jvp(f, (1.0,), (3.0,))[1], 6 * np.cos(1.0), rtol=1e-6)
    assert sagax.make_jaxpr(f)(1.0).eqns[0].primitive.name == "xla_metadata_call"


def test_derivatives_with_attributes_of_their_own():
    def shown(ad_metadata):
        f = xla_metadata_call2({"g": "fwd"}, ad_metadata=ad_metadata)(lambda x: snp.sin(x) * x)
        found = text(sagax.grad(f), 1.0)
        return found.count('g = "fwd"'), found.count('g = "bwd"')

    assert shown("same") == (2, 0)
    assert shown("drop") == (1, 0)
    assert shown({"g": "bwd"}) == (1, 1)
    with pytest.raises(ValueError, match="ad_metadata"):
        xla_metadata_call2({}, ad_metadata="none")
    with pytest.raises(TypeError, match="a string, a bool or a number"):
        xla_metadata_call(g=[1])


def test_a_block_marks_its_operations_and_their_derivatives():
    def f(x):
        with set_xla_metadata(k=3), set_xla_metadata(j='a "quote"'):
            y = snp.cos(x)
        return y + 1

    lines = text(f, 1.0).splitlines()
    marked = [line.split("=")[1].split()[0] for line in lines if "frontend" in line]
    assert marked == ["stablehlo.cosine"]
    (line,) = [line for line in lines if "frontend" in line]
    assert 'k = "3"' in line and 'j = "a \\22quote\\22"' in line
    backward = text(sagax.grad(f), 1.0)
    assert all('k = "3"' in line for line in backward.splitlines() if "stablehlo.multiply" in line)
    np.testing.assert_allclose(sagax.jit(f)(0.0), 2.0)


def test_a_block_around_a_jitted_function_is_part_of_its_key():
    f = sagax.jit(lambda x: x + 1)
    with set_xla_metadata(k=3):
        assert 'k = "3"' in f.lower(1.0).as_text()
        assert float(f(1.0)) == 2.0
    assert "frontend" not in f.lower(1.0).as_text()
    decorated = set_xla_metadata(k=3)(lambda x: snp.sin(x))
    assert 'k = "3"' in text(decorated, 1.0)


def test_the_operation_of_a_value():
    found = text(lambda x: set_xla_metadata(snp.sin(x), k="v"), 1.0)
    assert 'stablehlo.sine %arg0 {mhlo.frontend_attributes = {k = "v"}}' in found
    grads = sagax.grad(lambda x: set_xla_metadata(x * x, k="v"))(3.0)
    assert float(grads) == 6.0
    # an argument has no operation
    assert "frontend" not in text(lambda x: set_xla_metadata(x, k="v"), 1.0)


def test_fusion_and_scheduling():
    def limited(x):
        with fuse_limit():
            return snp.sin(x)

    assert 'FUSE_LIMIT = "true"' in text(limited, 1.0)
    f = must_fuse_call("1")(lambda x: snp.square(x).sum())
    assert 'MUST_FUSE = "1"' in text(f, snp.ones(3)) and float(sagax.jit(f)(snp.ones(3))) == 3.0
    assert 'scheduling_group = "a"' in text(scheduling_group("a")(lambda x: x + 1), 1.0)


def test_layouts_inside_of_executables():
    def f(x):
        return with_layout_constraint(x, Layout((1, 0)))

    x = snp.arange(24.0).reshape(4, 2, 3)
    one = text(f, x[0])
    assert "@LayoutConstraint" in one and "operand_layouts = [dense<[0, 1]>" in one
    # jax gives the batched layout (0, 2, 1), minor dimension first here
    assert "operand_layouts = [dense<[1, 2, 0]>" in text(sagax.vmap(f), x)
    np.testing.assert_array_equal(sagax.jit(sagax.vmap(f))(x), x)
    np.testing.assert_array_equal(sagax.grad(lambda x: (f(x) ** 2).sum())(x[0]), 2 * x[0])
    assert f(x[0]).format.layout == Layout((0, 1))
    with pytest.raises(ValueError, match="3 dimensions"):
        with_layout_constraint(x, Layout((1, 0)))
    with pytest.raises(TypeError, match="a Layout"):
        with_layout_constraint(x, (1, 0))
    with pytest.raises(ValueError, match="each dimension once"):
        Layout((0, 0))
