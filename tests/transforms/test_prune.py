"""Pruning: what nobody needs is gone, inside of held programs too, and the rest computes the same."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.core.jaxpr import eval_jaxpr
from sagax._src.core.verify import check_jaxpr
from sagax._src.transforms.prune import prune_jaxpr

X = np.arange(4, dtype=np.float32)


def looped(x, y, z):
    def body(carry, row):
        a, b, c = carry
        return (a + row, b * snp.sin(y) + c, c + 1), (a * 2, snp.exp(row + z))

    return lax.scan(body, (x, x, x), X)


def while_looped(x, y, z):
    done = lambda v: v[0] < 3  # noqa: E731
    return lax.while_loop(done, lambda v: (v[0] + 1, v[1] * y, snp.cos(v[2] + z)), (x, x, x))


def branched(x, y, z):
    return lax.cond(x > 1, lambda: (x, y * y, z), lambda: (x + 1, snp.sin(y), y))


def called(x, y, z):
    return sagax.jit(lambda x, y, z: (x + 1, snp.sin(y), snp.cos(z)))(x, y, z)


def rematerialised(x, y, z):
    return sagax.checkpoint(lambda x, y, z: (x + 1, snp.sin(y), snp.cos(z)))(x, y, z)


def names(jaxpr) -> set:
    """The names of all primitives, those of held programs included."""
    found = set()
    for eqn in jaxpr.eqns:
        found.add(eqn.primitive.name)
        for value in eqn.params.values():
            for one in value if isinstance(value, tuple) else (value,):
                if hasattr(one, "jaxpr"):
                    found |= names(one.jaxpr)
    return found


@pytest.mark.parametrize("fun", [looped, while_looped, branched, called, rematerialised])
def test_any_choice_of_results(fun):
    args = [np.float32(v) for v in (0.5, 0.25, 2.0)]
    closed = sagax.make_jaxpr(fun)(*args)
    whole = eval_jaxpr(closed.jaxpr, closed.consts, *args)
    n = len(whole)
    for choice in range(1, 2**n):
        used = [bool(choice >> i & 1) for i in range(n)]
        small = prune_jaxpr(closed.jaxpr, used)
        check_jaxpr(small)
        found = eval_jaxpr(small, closed.consts, *args)
        for f, e in zip(found, [w for w, u in zip(whole, used, strict=True) if u], strict=True):
            np.testing.assert_array_equal(np.asarray(f), np.asarray(e))


@pytest.mark.parametrize(
    ("fun", "used", "gone", "left"),
    [
        (looped, [1, 0, 0, 0, 0], {"sin", "exp", "mul"}, {"scan", "add"}),
        (looped, [0, 1, 0, 0, 0], {"exp"}, {"sin", "mul"}),
        (looped, [0, 0, 0, 0, 1], {"sin", "mul"}, {"exp"}),
        (while_looped, [1, 0, 0], {"cos", "mul"}, {"while"}),
        (while_looped, [0, 0, 1], {"mul"}, {"cos", "lt"}),
        (branched, [1, 0, 0], {"sin", "mul"}, {"cond"}),
        (called, [1, 0, 0], {"sin", "cos"}, {"jit", "add"}),
        (rematerialised, [0, 1, 0], {"cos"}, {"checkpoint", "sin"}),
    ],
)
def test_what_is_dropped(fun, used, gone, left):
    jaxpr = sagax.make_jaxpr(fun)(*[np.float32(1)] * 3).jaxpr
    found = names(prune_jaxpr(jaxpr, [bool(u) for u in used]))
    assert not found & gone
    assert found >= left


def test_operands_that_nobody_reads_are_no_longer_needed():
    jaxpr = sagax.make_jaxpr(lambda x, y, z: looped(x, snp.tan(y), snp.tanh(z))[0][0])(
        1.0, 1.0, 1.0
    )
    assert not names(prune_jaxpr(jaxpr.jaxpr)) & {"tan", "tanh", "sin", "exp"}


def test_side_effects_stay():
    def body(carry, row):
        sagax.debug.print("row {}", row)
        return carry, row * 2

    jaxpr = sagax.make_jaxpr(lambda x: lax.scan(body, x, X)[0])(1.0).jaxpr
    assert "scan" in names(prune_jaxpr(jaxpr, [False]))


def test_results_with_symbolic_sizes():
    def f(x, y):
        return sagax.jit(lambda x, y: (snp.zeros(x.shape) + y, x.sum()))(x, y)[0]

    x = np.ones(3, np.float32)
    shape = sagax.ShapeDtypeStruct(sagax.export.symbolic_shape("n"), np.float32)
    exported = sagax.export.export(sagax.jit(f))(shape, sagax.ShapeDtypeStruct((), np.float32))
    np.testing.assert_array_equal(np.asarray(exported.call(x, np.float32(2))), 2 * x)
