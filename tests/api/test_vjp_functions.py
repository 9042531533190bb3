"""Derivatives as objects: residuals, references for gradients, logs, passes compiled once."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.api.vjp_function import (
    DidntWant,
    DontWant,
    GradRef,
    GradValue,
    NotNeeded,
    NotSaveable,
)
from sagax.errors import SagaxError


def product(x, y):
    return snp.sin(x) * y["a"]


X, Y = snp.float32(2.0), {"a": snp.float32(3.0)}
SLOPES = (3 * np.cos(2.0), np.sin(2.0))


def test_gradients_are_added_to_references():
    _, pull = sagax.vjp(product, X, Y)
    a, b = sagax.new_ref(0.0), sagax.new_ref(1.0)
    assert pull.with_refs(a, {"a": b})(1.0) == (GradRef(), {"a": GradRef()})
    assert (float(a[...]), float(b[...])) == pytest.approx((SLOPES[0], 1 + SLOPES[1]), rel=1e-6)
    none, rest = pull.with_refs(DontWant(), {"a": GradValue()})(2.0)
    assert none == DidntWant()
    assert float(rest["a"]) == pytest.approx(2 * SLOPES[1], rel=1e-6)

    @sagax.jit
    def accumulate(x, ref):
        _, pull = sagax.vjp(lambda x: snp.sum(x * x), x)
        pull.with_refs(ref)(1.0)

    total = sagax.new_ref(snp.zeros(2))
    for k in range(3):
        accumulate(snp.array([1.0, k]), total)
    assert total[...].tolist() == [6.0, 6.0]


def test_the_gradient_of_a_reference_is_one():
    def update(ref, x):
        ref[...] = ref[...] * x

    ref, ct = sagax.new_ref(3.0), sagax.new_ref(10.0)
    out, pull = sagax.vjp(update, ref, 2.0)
    # jax 0.12: the cotangent 10 of the final contents gives 20 for the first ones, and 30 for x
    assert out is None and float(ref[...]) == 6.0
    result = pull.with_refs(ct, GradValue())(None)
    assert result[0] == GradRef() and float(result[1]) == 30.0
    assert float(ct[...]) == 20.0
    with pytest.raises(SagaxError, match="must be added to a reference"):
        pull(None)
    with pytest.raises(SagaxError, match=r"expected: Ref\{float32\[\]\}"):
        pull.with_refs(sagax.new_ref(snp.zeros(2)), GradValue())(None)
    with pytest.raises(SagaxError, match="another structure"):
        pull.with_refs(ct)


def test_residuals_can_be_seen_and_replaced():
    _, pull = sagax.vjp(lambda x, y: x @ y, snp.ones((2, 2)), snp.eye(2))
    assert [a.shape for a in pull.args_res] == [(2, 2), (2, 2)]
    assert pull.opaque_residuals == []
    doubled = sagax.tree.map(lambda x: x * 2, pull)
    ct = snp.ones((2, 2))
    np.testing.assert_array_equal(doubled(ct)[0], 2 * np.asarray(pull(ct)[0]))
    assert len(pull.jaxpr.invars) == 4
    assert pull.out_nzs is True

    _, pull = sagax.vjp(lambda x, y: snp.sin(x) * y, 2.0, 3.0, saveable_args=(True, False))
    assert pull.args_res == [NotNeeded(), NotSaveable()] or pull.args_res[1] == NotNeeded()
    _, pull = sagax.vjp(lambda x, y: x * y, 2.0, 3.0, saveable_args=(True, False))
    assert pull.args_res[1] == NotSaveable() and float(pull.args_res[0]) == 2.0
    with pytest.raises(SagaxError, match="args_res"):
        pull(1.0)
    pull.args_res[1] = 5.0
    assert tuple(map(float, pull(1.0))) == (5.0, 2.0)
    with pytest.raises(SagaxError, match="saveable_args"):
        sagax.vjp(lambda x: x, 1.0, saveable_args=(True, True))


def test_constant_arguments_have_no_cotangents():
    _, pull = sagax.vjp(lambda x, y: (x * y, y), 2.0, 3.0, in_nzs=(True, False))
    assert pull.out_nzs == (True, False)
    assert tuple(map(float, pull((1.0, 1.0)))) == (3.0, 0.0)


def test_passes_are_compiled_once():
    traces = []

    def f(x, w):
        traces.append(1)
        return snp.sum(snp.tanh(x @ w))

    fwd, bwd = sagax.fwd_and_bwd(f, argnums=(0, 1))
    expected = sagax.grad(f, argnums=(0, 1))
    before = len(traces)
    for k in range(3):
        x, w = snp.full((2, 3), k * 0.1), snp.ones((3, 2))
        value, residuals = fwd(x, w)
        found = bwd(residuals, 1.0)
        if k == 0:
            once = len(traces) - before
        for a, b in zip(found, expected(x, w), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    assert once == 1
    assert fwd._cache_size() == bwd._cache_size() == 1
    fwd, bwd = sagax.fwd_and_bwd(lambda x: (x * x, x), 0, has_aux=True, jitted=False)
    value, residuals, aux = fwd(3.0)
    assert (float(value), float(aux), float(bwd(residuals, 1.0))) == (9.0, 3.0, 6.0)


@sagax.custom_gradient(with_logs=True)
def square(x):
    return x**2, lambda g: ((g * 2 * x,), {"ct": g})


def test_rules_log():
    assert float(sagax.grad(square)(3.0)) == 6.0
    for f in (square, sagax.jit(square)):
        _, pull = sagax.vjp(lambda x, f=f: f(snp.sin(x)) * 5, 3.0)
        (ct,), logs = pull.with_logs(1.0)
        assert float(ct) == pytest.approx(10 * np.sin(3.0) * np.cos(3.0), rel=1e-5)
        assert {k: float(v) for k, v in logs.items()} == {"ct": 5.0}
        assert float(pull(1.0)[0]) == float(ct)
    inside = sagax.jit(lambda x: sagax.vjp(square, x)[1].with_logs(2.0))(3.0)
    assert float(inside[0][0]) == 12.0 and float(inside[1]["ct"]) == 2.0
    with pytest.raises(SagaxError, match="two backward rules log 'ct'"):
        sagax.vjp(lambda x: square(square(x)), 3.0)[1](1.0)
    looped = sagax.vjp(lambda x: lax.fori_loop(0, 3, lambda i, c: square(c), x), 1.0)[1]
    with pytest.raises(SagaxError, match="inside of a loop"):
        looped.with_logs(1.0)


def test_linearized_functions_show_their_jaxpr():
    _, pushed = sagax.linearize(lambda x, y: (x * y, 1.0), 2.0, 3.0)
    assert [e.primitive.name for e in pushed.jaxpr.eqns].count("mul") == 2
    assert pushed.out_nzs == (True, False)
    assert tuple(map(float, pushed(1.0, 0.0))) == (3.0, 0.0)
    scaled = sagax.tree.map(lambda x: x * 2, pushed)
    assert float(scaled(1.0, 0.0)[0]) == 6.0
    assert float(sagax.jit(lambda f, t: f(t, t)[0])(pushed, 1.0)) == 5.0


def test_vmap_sums_results_that_differ():
    f = sagax.vmap(lambda x: (2 * x, x), out_axes=(None, 0), sum_match=True)
    total, each = f(snp.arange(3.0))
    assert float(total) == 6.0  # jax.vmap of jax 0.12
    assert each.tolist() == [0.0, 1.0, 2.0]
