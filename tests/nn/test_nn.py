"""sagax.nn gives the values of jax.nn, finite derivatives where they have limits, and clear errors.

The calls stand in nn_cases.py; oracle/nn.py records what jax gives for them.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nn_cases
import sagax
import sagax.numpy as snp
from sagax import nn, random

DATA = Path(__file__).resolve().parents[1] / "data" / "nn.npz"

# Where jax multiplies or divides infinities (NaN), or overflows on the way, sagax gives the limit.
LIMITS = {
    "nn.silu(edges)": {-np.inf: 0},
    "nn.swish(edges)": {-np.inf: 0},
    "nn.mish(edges)": {-np.inf: 0},
    "nn.gelu(edges)": {-np.inf: 0},
    "nn.gelu(edges, approximate=False)": {-np.inf: 0},
    "nn.hard_silu(edges)": {-np.inf: 0},
    "nn.hard_swish(edges)": {-np.inf: 0},
    "nn.soft_sign(edges)": {-np.inf: -1, np.inf: 1},
    "nn.squareplus(edges)": {-np.inf: 0, -3e4: 0, 3e4: 3e4},  # its square is beyond float16
    "nn.squareplus(edges, 2.0)": {-np.inf: 0, -3e4: 0, 3e4: 3e4},
}


@functools.cache
def recorded() -> dict[tuple[str, str], tuple[dict, list[np.ndarray]]]:
    file = np.load(DATA)
    values, start, found = file["values"].tobytes(), 0, {}
    for record in json.loads(file["records"].tobytes()):
        results = []
        for result in record["results"]:
            dtype = np.dtype(getattr(ml_dtypes, result["dtype"], None) or result["dtype"])
            stop = start + dtype.itemsize * int(np.prod(result["shape"]))
            results.append(np.frombuffer(values[start:stop], dtype).reshape(result["shape"]))
            start = stop
        found[record["call"], record["dtype"]] = record, results
    return found


def test_all_are_recorded() -> None:
    assert list(recorded()) == nn_cases.cases()
    assert [call for call, (record, _) in recorded().items() if "error" in record] == []


# These multiply the user's integers by numbers.
PROMOTING = ("nn.celu(integers)", "nn.leaky_relu(integers)", "nn.one_hot(integers * 1.0, 3)")


@pytest.mark.parametrize(
    "call, dtype",
    [
        pytest.param(*case, marks=[pytest.mark.own_promotion] * (case[0] in PROMOTING))
        for case in nn_cases.cases()
    ],
)
def test_value(call: str, dtype: str) -> None:
    record, expected = recorded()[call, dtype]
    results = nn_cases.evaluate(call, dtype, nn, random.key(3), snp.asarray)
    types = [{"dtype": str(r.dtype), "shape": list(r.shape), "weak": r.weak_type} for r in results]
    assert types == record["results"]
    for result, value in zip(results, expected):
        value = np.array(value)
        for at, limit in LIMITS.get(call, {}).items():
            value[nn_cases.arrays(dtype, np.asarray)["edges"] == at] = limit
        compare(np.asarray(result), value, call)


def compare(result: np.ndarray, value: np.ndarray, call: str) -> None:
    if value.dtype.kind in "iub":
        np.testing.assert_array_equal(result, value)
        return
    eps = float(ml_dtypes.finfo(value.dtype).eps)
    wide = np.complex128 if value.dtype.kind == "c" else np.float64
    result, value = result.astype(wide), value.astype(wide)
    # sums of terms of order 1 round like these; elements by themselves round relatively
    sums = 0.0 if "edges" in call else 8 * eps
    tiny = 1e-37
    # the tail of the normal distribution magnifies the rounding of its argument
    # and a variance from the mean of squares loses the digits of a mean that is ten times the deviation,
    # as in one column of the matrix: how many depends on where the machine rounds float16
    steep = 16.0 if "approximate=False" in call or call == "nn.standardize(matrix, axis=0)" else 1.0
    np.testing.assert_allclose(result, value, rtol=4 * steep * eps, atol=sums + tiny)


# derivatives --------------------------------------------------------------------------------------

POINTS = np.float32(
    [-np.inf, -1e30, -300, -1000, -40, -2, -0.5, 0, 0.5, 2, 40, 300, 1000, 1e30, np.inf]
)
# log1mexp is of positive numbers, and infinitely steep at 0
SMOOTH = [name for name in nn_cases.ELEMENTWISE if name != "log1mexp"]


@pytest.mark.parametrize("dtype", nn_cases.DTYPES)
@pytest.mark.parametrize("name", nn_cases.ELEMENTWISE)
def test_derivatives_are_finite(name: str, dtype: str) -> None:
    points = POINTS if name in SMOOTH else POINTS[POINTS > 0]
    with np.errstate(over="ignore"):
        points = snp.asarray(points.astype(nn_cases.DTYPES[dtype]))
    first = sagax.grad(getattr(nn, name))
    second = sagax.grad(first)
    assert np.isfinite(np.asarray(sagax.vmap(first)(points), np.float32)).all()
    assert np.isfinite(np.asarray(sagax.vmap(second)(points), np.float32)).all()


@pytest.mark.parametrize("name", nn_cases.ELEMENTWISE)
def test_derivatives_are_those_of_the_values(name: str) -> None:
    f = getattr(nn, name)
    with sagax.enable_x64(True):
        x = snp.asarray(
            np.linspace(0.1, 7, 23) if name == "log1mexp" else np.linspace(-7.05, 7, 23)
        )
        h = 1e-5
        slope = (f(x + h) - f(x - h)) / (2 * h)
        bend = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
        first = sagax.grad(f)
        np.testing.assert_allclose(sagax.vmap(first)(x), slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(sagax.vmap(sagax.grad(first))(x), bend, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "name, at, expected",
    [
        ("relu", 0, 0),
        ("relu6", 0, 0),
        ("relu6", 6, 0),
        ("softplus", 0, 0.5),
        ("softplus", np.inf, 1),
        ("softplus", -np.inf, 0),
        ("log_sigmoid", -np.inf, 1),
        ("silu", np.inf, 1),
        ("silu", -np.inf, 0),
        ("gelu", np.inf, 1),
        ("gelu", 0, 0.5),
        ("mish", np.inf, 1),
        ("soft_sign", 0, 1),
        ("soft_sign", np.inf, 0),
        ("squareplus", 1e30, 1),
        ("hard_silu", -3, 0),
        ("hard_silu", np.inf, 1),
        ("elu", -np.inf, 0),
    ],
)
def test_derivative(name: str, at: float, expected: float) -> None:
    assert float(sagax.grad(getattr(nn, name))(np.float32(at))) == expected


def test_slopes_at_nan_are_those_between_the_bends() -> None:
    for name, slope in (("relu", 1), ("relu6", 1), ("hard_tanh", 1), ("hard_sigmoid", 1 / 6)):
        function = getattr(nn, name)
        np.testing.assert_allclose(sagax.grad(function)(np.nan), slope, rtol=1e-6)
        np.testing.assert_array_equal(function(snp.array([np.nan])), [np.nan])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", ["silu", "gelu", "mish", "soft_sign"])
def test_nan_is_not_lost_in_derivatives(name: str, dtype: str) -> None:
    function = getattr(nn, name)
    x = snp.array([np.nan, 1, np.inf], dtype)
    slope = sagax.grad(function)
    for derivative in (slope, sagax.grad(slope), sagax.jit(slope), sagax.jacfwd(slope)):
        found = np.asarray(sagax.vmap(derivative)(x), np.float32)
        np.testing.assert_array_equal(np.isnan(found), [True, False, False])


def test_second_derivatives_at_zero() -> None:
    assert float(sagax.grad(sagax.grad(nn.softplus))(0.0)) == 0.25
    assert float(sagax.grad(sagax.grad(nn.silu))(0.0)) == 0.5


@pytest.mark.parametrize(
    "x, weights",
    [
        ([np.inf, 1, 2], [1, 0, 0]),
        ([1e30, 1, -1e30], [1, 0, 0]),
        ([0, 0, -np.inf], [0.5, 0.5, 0]),
        ([np.inf, np.inf, 0], [0.5, 0.5, 0]),
        ([200, 200, -200], [0.5, 0.5, 0]),
    ],
)
def test_softmax_at_the_limits(x: list, weights: list) -> None:
    x, p = np.float32(x), np.float32(weights)
    if np.inf in x:
        assert np.isnan(nn.softmax(x)).all() and np.isnan(nn.log_softmax(x)).all()
    else:
        np.testing.assert_array_equal(nn.softmax(x), p)
        np.testing.assert_array_equal(sagax.jacrev(nn.softmax)(x), np.diag(p) - np.outer(p, p))
        np.testing.assert_array_equal(sagax.jacrev(nn.log_softmax)(x), np.eye(3) - p)
    np.testing.assert_array_equal(sagax.grad(nn.logsumexp)(x), p)
    np.testing.assert_array_equal(sagax.hessian(nn.logsumexp)(x), np.diag(p) - np.outer(p, p))


def test_logsumexp_of_minus_infinity() -> None:
    x = np.float32([-np.inf, -np.inf])
    assert float(nn.logsumexp(x)) == -np.inf
    np.testing.assert_array_equal(sagax.grad(nn.logsumexp)(x), [0.5, 0.5])


@pytest.mark.parametrize("f", [nn.softmax, nn.standardize])
def test_nothing_chosen(f: Any) -> None:
    if f is nn.softmax:
        x, none = np.float32([1, 2]), np.zeros(2, bool)
        np.testing.assert_array_equal(f(x, where=none), [0, 0])
        np.testing.assert_array_equal(sagax.grad(lambda x: f(x, where=none)[0])(x), [0, 0])
    else:
        equal = np.float32([2, 2, 2])
        np.testing.assert_array_equal(f(equal), [0, 0, 0])
        assert np.isfinite(sagax.jacrev(f)(equal)).all()


@pytest.mark.parametrize("dtype", nn_cases.DTYPES)
def test_standardize_beyond_squares(dtype: str) -> None:
    most = float(ml_dtypes.finfo(nn_cases.DTYPES[dtype]).max) / 4
    x = snp.asarray([most, 0, 0, -most], nn_cases.DTYPES[dtype])
    expected = np.array([1, 0, 0, -1]) * np.sqrt(2)
    out = np.asarray(nn.standardize(x), np.float64)
    near = 1e-2 if dtype != "f32" else 1e-6
    np.testing.assert_allclose(out, expected, rtol=near, atol=near)
    assert np.isfinite(np.asarray(sagax.jacrev(nn.standardize)(x), np.float32)).all()
    infinite = nn.standardize(snp.asarray([np.inf, 0, 0], nn_cases.DTYPES[dtype]))
    assert np.isnan(np.asarray(infinite, np.float64)).all()


def test_standardize_other_dtypes() -> None:
    x = np.array([1 + 2j, 3 - 1j, 0.5j], np.complex64)
    for options in ({}, {"mean": 1.0}, {"variance": 2.0}):
        found = nn.standardize(x, **options)
        mean = options.get("mean", x.mean())
        variance = options.get("variance", (x**2).mean() - mean**2)
        if not options:
            variance = np.maximum(0, variance)
        np.testing.assert_allclose(found, (x - mean) / np.sqrt(variance + 1e-5), rtol=1e-4)
    narrow = np.array([1, 2, 3], ml_dtypes.float4_e2m1fn)
    assert nn.standardize(narrow, mean=1.0).tolist() == [0, 0.5, 1]


# attention against a loop over its definition -------------------------------------------------------


def test_attention_is_its_definition() -> None:
    rng = np.random.default_rng(1)
    q, k, v = rng.standard_normal((2, 3, 4, 5)), *rng.standard_normal((2, 2, 6, 2, 5))
    out = nn.dot_product_attention(
        *map(np.float32, (q, k, v)), is_causal=True, local_window_size=(1, 0)
    )
    for b, t, n in np.ndindex(2, 3, 4):
        seen = [s for s in range(6) if t - 1 <= s <= t]
        weights = np.exp([q[b, t, n] @ k[b, s, n // 2] / 5**0.5 for s in seen])
        expected = sum(w * v[b, s, n // 2] for w, s in zip(weights, seen)) / weights.sum()
        np.testing.assert_allclose(out[b, t, n], expected, rtol=1e-5, atol=1e-6)


def test_attention_in_programs() -> None:
    q, k = np.ones((3, 4, 5), np.float32), np.ones((6, 2, 5), np.float32)
    f = functools.partial(nn.dot_product_attention, is_causal=True)
    np.testing.assert_allclose(sagax.jit(f)(q, k, k), f(q, k, k), rtol=1e-6)
    gradient = sagax.grad(lambda q: f(q, k, k).sum())(q)
    assert gradient.shape == q.shape and np.isfinite(gradient).all()
    many = sagax.vmap(f)(q[None], k[None], k[None])
    np.testing.assert_allclose(many[0], f(q, k, k), rtol=1e-6)


# bad input ----------------------------------------------------------------------------------------

Q, K = np.ones((2, 3, 4, 5), np.float32), np.ones((2, 6, 2, 5), np.float32)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: nn.relu([1.0]), TypeError, ["relu", "list", "asarray"]),
        (lambda: nn.glu(np.ones(3, np.float32)), ValueError, ["glu", "divisible by 2", "got 3"]),
        (
            lambda: nn.softmax(np.ones(3, np.float32), axis=1),
            ValueError,
            ["softmax", "axis", "got 1"],
        ),
        (lambda: nn.softmax(Q, where=Q), TypeError, ["softmax", "where", "booleans"]),
        (lambda: nn.softmax(K[0, 0], where=np.ones(3, bool)), TypeError, ["softmax", "(3,)"]),
        (lambda: nn.standardize(Q, algorithm="x"), ValueError, ["'fast' or 'stable'"]),
        (lambda: nn.one_hot(np.arange(3), 2.5), TypeError, ["num_classes", "integer"]),
        (
            lambda: nn.dot_product_attention(Q, K, K, implementation="cudnn"),
            TypeError,
            ["bfloat16", "float32", "xla"],
        ),
        (lambda: nn.dot_product_attention(Q, K, K, implementation="y"), ValueError, ["'y'", "xla"]),
        (lambda: nn.dot_product_attention(Q[:, :, :3], K, K), TypeError, ["multiple", "3 vs 2"]),
        (lambda: nn.dot_product_attention(Q, K, K[:, :4]), TypeError, ["value", "(2, 4, 2, 5)"]),
        (
            lambda: nn.dot_product_attention(Q, K, K, mask=Q[:, :1, :1, :1]),
            ValueError,
            ["mask", "bool"],
        ),
        (
            lambda: nn.dot_product_attention(Q, K, K, mask=np.ones((2, 5, 1, 6), bool)),
            TypeError,
            ["mask", "(2, 4, 3, 6)"],
        ),
        (
            lambda: nn.dot_product_attention(Q, K, K, local_window_size=-1),
            ValueError,
            ["local_window_size"],
        ),
        (
            lambda: nn.dot_product_attention(Q, K, K, query_seq_lengths=np.arange(3)),
            TypeError,
            ["query_seq_lengths", "(2,)", "(3,)"],
        ),
        (
            lambda: nn.dot_product_attention(Q, K, K.astype(np.float16)),
            TypeError,
            ["value", "float16"],
        ),
        (lambda: nn.initializers.he_normal()(random.key(0), (3,)), ValueError, ["1-dimensional"]),
        (
            lambda: nn.initializers.variance_scaling(1.0, "x", "normal")(random.key(0), (3, 4)),
            ValueError,
            ["mode", "fan_in"],
        ),
        (
            lambda: nn.initializers.variance_scaling(1.0, "fan_in", "x")(random.key(0), (3, 4)),
            ValueError,
            ["distribution", "uniform"],
        ),
        (lambda: nn.initializers.orthogonal()(random.key(0), (3,)), ValueError, ["2D"]),
        (
            lambda: nn.initializers.delta_orthogonal()(random.key(0), (3, 4, 2)),
            ValueError,
            ["fan_in"],
        ),
        (lambda: nn.initializers.normal()((2, 3), random.key(0)), TypeError, ["key"]),
    ],
)
def test_bad_input(call: Any, kind: type, words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert [word for word in words if word not in text] == []


def test_a_mask_may_be_wider_than_its_array():
    x = np.array([0.1, 0.5, 0.7, 0.2], np.float32)
    mask = np.array([[True, False, True, True], [False, True, True, False]])
    rows = np.where(mask, np.exp(x), 0.0)
    np.testing.assert_allclose(
        nn.softmax(x, where=mask), rows / rows.sum(1, keepdims=True), rtol=1e-6
    )
    np.testing.assert_allclose(nn.logsumexp(x, axis=1, where=mask), np.log(rows.sum(1)), rtol=1e-6)
    np.testing.assert_allclose(nn.logsumexp(x, where=mask), np.log(rows.sum()), rtol=1e-6)
    with pytest.raises(ValueError, match="broadcasts to the shape of the array"):
        nn.standardize(x, where=mask)


@pytest.mark.parametrize("algorithm", ["fast", "stable"])
def test_standardization_beyond_squares(algorithm):
    """Rows whose squares overflow are scaled, by themselves and within a batch; others keep their derivatives."""
    rows = np.array([[1, np.inf, 2], [1e25, 2e25, 3e25], [3e38, 1e38, -3e38], [1, np.nan, 4], [1, 2, 4]], np.float32)  # fmt: skip
    small = np.array([[np.nan] * 3, [1, 2, 3], [3, 1, -3], [np.nan] * 3, [1, 2, 4]])
    mean, deviation = small.mean(1, keepdims=True), small.std(1, keepdims=True)
    expected = (small - mean) / deviation
    f = functools.partial(nn.standardize, algorithm=algorithm)
    for found in (sagax.jit(f)(rows), sagax.jit(sagax.vmap(f))(rows)):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    weights = snp.array([1.0, 2, 5])
    together = sagax.jit(sagax.grad(lambda x: (f(x) * weights).sum()))(rows)
    alone = sagax.grad(lambda x: (f(x) * weights).sum())(rows[4])
    np.testing.assert_allclose(together[4], alone, rtol=5e-5)
    assert np.isfinite(np.asarray(together)[[1, 2, 4]]).all()
