"""Types and operations that libraries add, against jax (tests/oracle/hijax.py records what it gives)."""

from __future__ import annotations

import json
import math
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hijax_cases
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.experimental import hijax

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "hijax.json").read_text())
CASES = hijax_cases.cases(sagax)


@pytest.mark.parametrize("name", [name for name in DATA if name != "jax"])
def test_as_jax(name):
    found, expected = CASES[name](), DATA[name]
    if isinstance(expected, str):
        assert found == expected
        return
    leaves = sagax.tree.leaves(found)
    assert len(leaves) == len(expected)
    for x, y in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-6)


def test_every_case_is_recorded():
    assert {*CASES, "jax"} == set(DATA)


@pytest.fixture(scope="module")
def q() -> Any:
    return hijax_cases.quantized(sagax)


X = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], np.float32)


def test_a_branch_returns_a_value_of_a_library(q):
    # jax 0.12.0 raises AttributeError here
    def f(flag, a):
        return lax.cond(flag, lambda a: a, lambda a: q.quantize(q.dequantize(a) * 2), a)

    a = q.quantize(snp.array(X))
    for flag, factor in [(True, 1), (False, 2)]:
        found = q.dequantize(sagax.jit(f)(flag, a))
        np.testing.assert_allclose(found, factor * np.asarray(q.dequantize(a)), rtol=1e-6)


def test_checkpoint(q):
    def f(x):
        return snp.sum(q.dequantize(q.quantize(x)) ** 2)

    np.testing.assert_allclose(sagax.grad(sagax.checkpoint(f))(X), sagax.grad(f)(X), rtol=1e-6)


def test_the_executable_has_arrays_only(q):
    lowered = sagax.jit(q.dequantize).lower(q.quantize(snp.array(X)))
    assert "main(%arg0: tensor<2x3xi8>, %arg1: tensor<2xf32>)" in lowered.as_text()


def test_unused_operations_are_removed(q):
    def f(x):
        q.quantize(x)
        return x

    assert "maximum" not in sagax.jit(f).lower(X).as_text()


def test_values_are_no_containers_in_traced_functions(q):
    a = q.quantize(snp.array(X))
    with pytest.raises(AttributeError, match="'values'"):
        sagax.jit(lambda a: a.values)(a)


def test_what_a_type_or_operation_lacks_is_named(q):
    with pytest.raises(NotImplementedError, match=r"Quantize(.|\n)*`jvp`"):
        sagax.jvp(q.quantize, (X,), (X,))
    with pytest.raises(NotImplementedError, match=r"Product(.|\n)*`batch`"):
        sagax.vmap(q.product, in_axes=(0, None))(np.stack([X, X]), q.quantize(snp.ones((3, 4))))

    @dataclass(frozen=True)
    class Bare:
        x: Any

    @dataclass(frozen=True)
    class BareType(hijax.HiType):
        n: int = 0

    hijax.register_hitype(Bare, lambda _: BareType())
    with pytest.raises(NotImplementedError, match="`lo_ty`"):
        sagax.jit(lambda b: b)(Bare(1))
    with pytest.raises(NotImplementedError, match="`to_tangent_aval`"):
        sagax.grad(lambda b: 1.0)(Bare(1))
    with pytest.raises(NotImplementedError, match="`dec_rank`"):
        sagax.vmap(lambda b: 1.0, in_axes=q.Leading(), axis_size=2)(Bare(1))


def test_operands_have_the_declared_types(q):
    one = q.quantize(snp.array(X))
    operation = type(one)  # the value class
    assert operation is q.QArray
    with pytest.raises(TypeError, match="float32 is quantized"):
        q.quantize(np.ones(3, np.int32))
    with pytest.raises(TypeError, match=r"q8\[2,3\] @ q8\[2,3\]|@"):
        q.product(X, one)

    class Fixed(hijax.HiPrim):
        def __init__(self):
            aval = hijax.ShapedArray((2,), np.float32)
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def expand(self, x):
            return [x]

    with pytest.raises(TypeError, match="operand 0 of Fixed"):
        sagax.make_jaxpr(Fixed())(np.ones(3, np.float32))
    with pytest.raises(TypeError, match="results of `expand` of Fixed"):
        Fixed()(np.ones(2, np.float32))
    with pytest.raises(AttributeError, match=r"self\.in_avals"):
        hijax.HiPrim()


def test_axes_must_be_those_of_the_rule(q):
    xs = np.stack([X, X])
    with pytest.raises(ValueError, match="has no axis 1"):
        sagax.vmap(q.quantize, out_axes=1)(xs)
    with pytest.raises(ValueError, match="axis_size"):
        sagax.vmap(q.dequantize, in_axes=q.Leading())(q.quantize(snp.array(xs)))


def test_properties_and_methods_of_traced_values():
    @dataclass(frozen=True)
    class Pair:
        a: Any
        b: Any

    @dataclass(frozen=True)
    class PairType(hijax.HiType):
        size: int

        def lo_ty(self):
            return [hijax.ShapedArray((self.size,), np.float32)] * 2

        def lower_val(self, p):
            return [p.a, p.b]

        def raise_val(self, a, b):
            return Pair(a, b)

        def to_tangent_aval(self):
            return self

        def vspace_zero(self):
            return make(snp.zeros(self.size), snp.zeros(self.size))

        def vspace_add(self, x, y):
            return Add(self)(x, y)

        total = hijax.aval_property(lambda p: Total(sagax.typeof(p))(p))
        scaled = hijax.aval_method(lambda p, factor: factor * p.total)

    hijax.register_hitype(Pair, lambda p: PairType(p.a.shape[0]))

    class Make(hijax.HiPrim):
        def __init__(self, a):
            self.in_avals, self.out_aval, self.params = (a, a), PairType(a.shape[0]), {}
            super().__init__()

        def expand(self, a, b):
            return Pair(a, b)

        def vjp_fwd(self, nonzero, a, b):
            return self(a, b), None

        def vjp_bwd_retval(self, _, g):
            return Split(sagax.typeof(g))(g)

    class Split(hijax.HiPrim):
        def __init__(self, p):
            self.in_avals, self.out_aval, self.params = (p,), tuple(p.lo_ty()), {}
            super().__init__()

        def expand(self, p):
            return p.a, p.b

    class Add(hijax.HiPrim):
        def __init__(self, p):
            self.in_avals, self.out_aval, self.params = (p, p), p, {}
            super().__init__()

        def expand(self, p, q):
            return Pair(p.a + q.a, p.b + q.b)

    class Total(hijax.HiPrim):
        def __init__(self, p):
            self.in_avals, self.params = (p,), {}
            self.out_aval = hijax.ShapedArray((), np.float32)
            super().__init__()

        def expand(self, p):
            return p.a.sum() * p.b.sum()

        def vjp_fwd(self, nonzero, p):
            return self(p), p

        def vjp_bwd_retval(self, p, g):
            a, b = Split(sagax.typeof(p))(p)
            one = snp.ones_like(a)
            return (make(g * b.sum() * one, g * a.sum() * one),)

    def make(a, b):
        return Make(sagax.typeof(a))(a, b)

    def f(a, b):
        p = make(a, b)
        return p.total + p.scaled(2.0) if hasattr(p, "total") else Total(sagax.typeof(p))(p) * 3

    a, b = snp.array([1.0, 2.0]), snp.array([3.0, 4.0])
    assert float(sagax.jit(f)(a, b)) == 63.0
    # the tangents are pairs too, which are added
    for found in (sagax.grad(f, (0, 1))(a, b), sagax.jit(sagax.grad(f, (0, 1)))(a, b)):
        np.testing.assert_allclose(found[0], [21.0, 21.0])
        np.testing.assert_allclose(found[1], [9.0, 9.0])


def test_nothing_is_loaded_before_it_is_used():
    import subprocess
    import sys

    script = (
        "import sys, sagax, sagax.numpy; print(any('high_primitives' in m for m in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "False", found.stderr


def test_operators_of_a_library_leave_those_of_arrays_alone():
    class Counted(hijax.HiType):
        """A type with an operator, which all traced values then look up."""

        def _len(self, _):
            return 5

    for f in (math.floor, math.ceil, math.trunc):
        with pytest.raises(sagax.errors.ConcretizationTypeError):
            sagax.jit(f)(2.5)
    with pytest.raises(TypeError, match="unsized|0-d|no length|scalar"):
        sagax.jit(len)(2.5)
    assert sagax.jit(len)(np.zeros(3)) == 3
