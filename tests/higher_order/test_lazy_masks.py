"""`masks='lazy'`: `x[mask]` of a traced mask, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, nn
from sagax.errors import NonConcreteBooleanIndexError

X = np.array([1.5, -2, 3, 0.5, -7, 4], np.float32)
Y = np.arange(6, dtype=np.float32)
A = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
N = np.array([1.0, np.nan, 3.0, np.nan, 0.5, 2.0], np.float32)

# f(n, x, y, A) with n NumPy or sagax.numpy
PROGRAMS = {
    "sum": lambda n, x, y, A: x[x > 0].sum(),
    "mean": lambda n, x, y, A: x[x > 0].mean(),
    "max": lambda n, x, y, A: x[x > 0].max(),
    "min": lambda n, x, y, A: n.min(x[x < 0]),
    "prod": lambda n, x, y, A: n.prod(x[x > 0]),
    "any": lambda n, x, y, A: n.any(x[x > 0] > 3),
    "all": lambda n, x, y, A: n.all(x[x > 0] > 3),
    "argmax": lambda n, x, y, A: x[y > 1].argmax(),
    "argmin": lambda n, x, y, A: n.argmin(x[y > 1]),
    "argmax of lowest": lambda n, x, y, A: n.argmax(n.where(y > 9, x, -n.inf)[y > 1]),
    "count": lambda n, x, y, A: n.count_nonzero(x[x > 0] > 1),
    "size": lambda n, x, y, A: n.asarray(x[x > 0].shape[0]) * 1.0,
    "std": lambda n, x, y, A: x[x > 0].std(),
    "var": lambda n, x, y, A: n.var(x[x > 0], ddof=1),
    "log": lambda n, x, y, A: n.log(x[x > 0]).sum(),
    "two views": lambda n, x, y, A: (x[x > 0] * y[x > 0]).sum(),
    "centred": lambda n, x, y, A: ((x[x > 0] - x[x > 0].mean()) ** 2).sum(),
    "rows": lambda n, x, y, A: A[x > 0].sum(0),
    "mean of rows": lambda n, x, y, A: A[x > 0].mean(axis=0),
    "max of rows": lambda n, x, y, A: A[x > 0].max(),
    "column of rows": lambda n, x, y, A: A[x > 0, 1].sum(),
    "columns": lambda n, x, y, A: A.T[:, x > 0].sum(axis=1),
    "matrix mask": lambda n, x, y, A: A[A > 0].sum(),
    "mean by matrix mask": lambda n, x, y, A: n.mean(A[A > 0]),
    "mask of a view": lambda n, x, y, A: x[x > 0][y[x > 0] > 2].sum(),
    "mask in a variable": lambda n, x, y, A: (lambda m: (x[m] + y[m]).max() - y[~m].min())(x > 1),
    "matrix product": lambda n, x, y, A: (A[x > 0] @ n.ones((3,), n.float32)).max(),
    "dot": lambda n, x, y, A: n.dot(x[x > 0], y[x > 0]),
    "gram": lambda n, x, y, A: A[x > 0].T @ A[x > 0],
    "where then gather": lambda n, x, y, A: y[n.where(x > 0)].sum(),
    "where then rows": lambda n, x, y, A: A[n.where(x > 0)[0]].sum(0),
    "where of a matrix": lambda n, x, y, A: A[n.where(A > 0.3)].sum(),
    "nonzero": lambda n, x, y, A: n.nonzero(x > 0)[0].sum(),
    "flatnonzero": lambda n, x, y, A: n.flatnonzero(x > 0).max(),
    "where of views": lambda n, x, y, A: n.where(x[y > 1] > 0, x[y > 1], 0).sum(),
    "sorted": lambda n, x, y, A: (n.sort(x[x > 0]) * n.arange(x[x > 0].shape[0])).sum(),
    "argsort": lambda n, x, y, A: (n.argsort(x[y > 0]) * x[y > 0]).sum(),
    "cumsum": lambda n, x, y, A: n.cumsum(x[x > 0]).max(),
    "first": lambda n, x, y, A: x[x > 0][0],
    "last": lambda n, x, y, A: x[x > 0][-1],
    "norm": lambda n, x, y, A: n.linalg.norm(x[x > 0]),
    "peak to peak": lambda n, x, y, A: n.ptp(x[x > 0]),
    "median": lambda n, x, y, A: n.median(x[x > 0]),
    "clip": lambda n, x, y, A: n.clip(x[x > -5], -1, 1).sum(),
    "maximum": lambda n, x, y, A: n.maximum(x[x > 0], y[x > 0]).sum(),
    "average": lambda n, x, y, A: n.average(x[x > 0], weights=y[x > 0] + 1),
    "pairs": lambda n, x, y, A: n.abs(x[x > 0][:, None] - x[x > 0][None, :]).max(),
    "pairs of two masks": lambda n, x, y, A: n.abs(x[x > 0][:, None] - x[x < 0][None, :]).min(),
    "opposite": lambda n, x, y, A: x[~(x > 0)].sum(),
    "as integers": lambda n, x, y, A: (x[x > 0].astype("int32") % 2 == 0).sum(),
    "without NaN": lambda n, x, y, A: (lambda v: v[~n.isnan(v)].mean())(n.asarray(N)),
    "nanmean": lambda n, x, y, A: n.nanmean(n.asarray(N)[y > 2]),
    "loop": lambda n, x, y, A: sum(((x[x > k] * k).sum() for k in range(3)), 0.0),
}  # fmt: skip


def test_enough_programs():
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_against_numpy(name):
    f = PROGRAMS[name]
    want = f(np, X, Y, A)
    got = sagax.jit(lambda x, y, a: f(snp, x, y, a), masks="lazy")(X, Y, A)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-6)


def assigned(x, mask, change):
    out = x.copy()
    out[mask] = change(out[mask])
    return out


UPDATES = {
    "set": (lambda x, y: x.at[x > 0].set(0.0), lambda x, y: assigned(x, x > 0, lambda v: 0.0)),
    "add a view": (lambda x, y: x.at[x > 0].add(2 * x[x > 0]), lambda x, y: assigned(x, x > 0, lambda v: 3 * v)),
    "multiply": (lambda x, y: x.at[x < 0].mul(3.0), lambda x, y: assigned(x, x < 0, lambda v: v * 3)),
    "set from another": (lambda x, y: x.at[x > 0].set(y[x > 0]), lambda x, y: assigned(x, x > 0, lambda v: y[x > 0])),
    "min": (lambda x, y: x.at[x > 0].min(1.0), lambda x, y: assigned(x, x > 0, lambda v: np.minimum(v, 1))),
    "subtract the mean": (
        lambda x, y: x.at[x > 0].subtract(x[x > 0].mean()),
        lambda x, y: assigned(x, x > 0, lambda v: v - v.mean()),
    ),
    "columns": (
        lambda x, y: snp.zeros((3, 6)).at[:, x > 0].set(x[x > 0]),
        lambda x, y: np.where(x > 0, np.broadcast_to(x, (3, 6)), 0),
    ),
    "rows": (
        lambda x, y: snp.ones((6, 3)).at[x > 0].add(snp.arange(3.0)),
        lambda x, y: np.ones((6, 3)) + (x > 0)[:, None] * np.arange(3.0),
    ),
    "where": (lambda x, y: x.at[snp.where(x > 0)].set(9.0), lambda x, y: np.where(x > 0, 9, x)),
    "where, adding": (
        lambda x, y: x.at[snp.where(x > 0)].add(x[x > 0]),
        lambda x, y: np.where(x > 0, 2 * x, x),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_update_against_numpy(name):
    ours, theirs = UPDATES[name]
    got = sagax.jit(ours, masks="lazy")(X, Y)
    np.testing.assert_allclose(np.asarray(got), theirs(X, Y), rtol=1e-6)


def test_other_masks_of_the_same_program():
    """What is compiled depends on no mask: the same program serves all of them, also an empty one."""
    f = sagax.jit(lambda x: (x[x > 0].sum(), snp.sort(x[x > 0]).max(initial=0.0)), masks="lazy")
    for x in (X, -np.abs(X), np.abs(X), np.zeros(6, np.float32)):
        total, largest = f(x)
        assert float(total) == pytest.approx(x[x > 0].sum())
        assert float(largest) == pytest.approx(x[x > 0].max(initial=0.0))


@pytest.mark.own_promotion("dtype")
def test_gradients():
    def loss(x):
        return (x[x > 0] ** 2).sum() + x[x > 0].std()

    def with_where(x):
        m = x > 0
        n = m.sum()
        mean = snp.sum(snp.where(m, x, 0.0)) / n
        var = snp.sum(snp.where(m, (x - mean) ** 2, 0.0)) / n
        return snp.sum(snp.where(m, x**2, 0.0)) + snp.sqrt(var)

    want = sagax.grad(with_where)(X)
    inside = sagax.jit(sagax.grad(loss), masks="lazy")(X)
    outside = sagax.grad(sagax.jit(loss, masks="lazy"))(X)
    np.testing.assert_allclose(np.asarray(inside), np.asarray(want), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(outside), np.asarray(want), rtol=1e-5)


@pytest.mark.parametrize("way", ["outside", "inside", "setting"])
def test_gradients_where_what_is_left_out_has_none(way):
    """log(0) and 1 / 0 are computed and left out; nothing of them reaches a gradient."""

    def loss(x, a):
        return (a * snp.log(x[x > 0])).sum() + (a / x[x > 0]).sum()

    x = np.array([2.0, 0.0, 0.5, 0.0], np.float32)
    if way == "outside":
        got = sagax.grad(sagax.jit(loss, masks="lazy"), argnums=(0, 1))(x, 3.0)
    elif way == "inside":
        got = sagax.jit(sagax.grad(loss, argnums=(0, 1)), masks="lazy")(x, 3.0)
    else:
        with sagax.config.context(masks="lazy"):
            got = sagax.grad(sagax.jit(loss), argnums=(0, 1))(x, 3.0)
    v = x[x > 0]
    slope = np.zeros_like(x)
    slope[x > 0] = 3 / v - 3 / v**2
    np.testing.assert_allclose(np.asarray(got[0]), slope, rtol=1e-5)
    assert float(got[1]) == pytest.approx(float((np.log(v) + 1 / v).sum()), rel=1e-5)


def test_masks_from_around_a_loop():
    def f(x):
        m = x > 0
        return lax.scan(lambda c, t: (c + (x[m] * t).sum(), None), 0.0, snp.arange(3.0))[0]

    assert float(sagax.jit(f, masks="lazy")(X)) == pytest.approx(3 * X[X > 0].sum())


def test_functions_with_derivatives_of_their_own():
    got = sagax.jit(lambda x: nn.softmax(nn.relu(x[x > -3])).max(), masks="lazy")(X)
    v = np.maximum(X[X > -3], 0)
    assert float(got) == pytest.approx(float(np.max(np.exp(v) / np.exp(v).sum())))


def test_inside_of_loops():
    def f(x):
        return lax.scan(lambda c, t: (c + x[x > t].sum(), None), 0.0, snp.arange(3.0))[0]

    assert float(sagax.jit(f, masks="lazy")(X)) == pytest.approx(
        sum(X[t < X].sum() for t in range(3))
    )


def test_setting():
    with sagax.config.context(masks="lazy"):
        assert float(sagax.jit(lambda x: x[x > 0].sum())(X)) == 9.0
    with pytest.raises(NonConcreteBooleanIndexError):
        sagax.jit(lambda x: x[x > 0].sum(), masks="strict")(X)


# What the view cannot do ----------------------------------------------------------------------------------

PAGE = r"Array boolean indices must be concrete: ShapedArray\(bool\[6\]\)"

ESCAPES = {
    "result": (lambda x: x[x > 0], "results of traced functions have static sizes"),
    "length": (lambda x: len(x[x > 0]), "needs a number while the function is traced"),
    "joined": (lambda x: snp.concatenate([x[x > 0], x]), "concatenate needs the selected elements side by side"),
    "reshaped": (lambda x: x[x > 0].reshape(2, -1), "how many elements are selected"),
    "iterated": (lambda x: [v + 1 for v in x[x > 0]], "unstack needs the selected elements side by side"),
    "compared": (lambda x: x * 2 if x[x > 0].shape[0] == 3 else x, "how many elements are selected"),
    "range": (lambda x: [x for _ in range(x[x > 0].shape[0])], "how many elements are selected"),
    "into a loop": (lambda x: lax.scan(lambda c, v: (c + v, None), 0.0, x[x > 0])[0], "scan needs the selected elements"),
}  # fmt: skip


@pytest.mark.parametrize("name", ESCAPES)
def test_escaping_views_say_why(name):
    f, why = ESCAPES[name]
    with pytest.raises(NonConcreteBooleanIndexError, match=PAGE) as caught:
        sagax.jit(f, masks="lazy")(X)
    assert why in str(caught.value)


def test_symbolic_sizes_beside_views():
    """Exported programs may ask for other sizes as ever, and use masks of known size."""
    (b,) = sagax.export.symbolic_shape("b")

    def f(x, y):
        z = x * 2 if x.shape[0] == 1 else x
        return z.sum() + y[y > 0].sum()

    specs = [sagax.ShapeDtypeStruct(s, "float32") for s in ((b,), (6,))]
    exported = sagax.export.export(sagax.jit(f, masks="lazy"))(*specs)
    assert [str(a) for a in exported.assumptions] == ["b != 1"]
    assert float(exported.call(np.ones(3, np.float32), X)) == 12.0
    with pytest.raises(NonConcreteBooleanIndexError):  # a mask of unknown size
        sagax.export.export(sagax.jit(lambda x: x[x > 0].sum(), masks="lazy"))(specs[0])


def test_strict_by_default():
    for f in (lambda x: x[x > 0].sum(), lambda x: x.at[x > 0].set(0)):
        with pytest.raises(NonConcreteBooleanIndexError, match=PAGE):
            sagax.jit(f)(X)


def test_outside_of_traces_nothing_changes():
    with sagax.config.context(masks="lazy"):
        x = snp.asarray(X)
        assert np.asarray(x[x > 0]).tolist() == X[X > 0].tolist()
