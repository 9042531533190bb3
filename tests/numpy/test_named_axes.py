"""Check reductions along named axes of vmap and shard_map against NumPy's along the axes themselves."""

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import nn
from sagax.numpy._arguments import UnsupportedArgumentError
from sagax.sharding import PartitionSpec as P

X = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)
MASK = np.random.default_rng(1).random((3, 4, 5)) > 0.3


def _softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _logsumexp(x, axis, keepdims=False):
    return np.log(np.exp(x.astype(np.float64)).sum(axis=axis, keepdims=keepdims))


def _standardize(x, axis):
    x = x.astype(np.float64)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + 1e-5)


REDUCTIONS = {
    "sum": (snp.sum, np.sum),
    "max": (snp.max, np.max),
    "min": (snp.min, np.min),
    "mean": (snp.mean, np.mean),
    "var": (snp.var, np.var),
    "std": (snp.std, np.std),
    "ptp": (snp.ptp, np.ptp),
    "nansum": (snp.nansum, np.nansum),
    "nanmean": (snp.nanmean, np.nanmean),
    "nanvar": (snp.nanvar, np.nanvar),
    "count_nonzero": (snp.count_nonzero, np.count_nonzero),
    "logsumexp": (nn.logsumexp, _logsumexp),
}
ELEMENTWISE = {
    "softmax": (nn.softmax, _softmax),
    "log_softmax": (nn.log_softmax, lambda x, axis: np.log(_softmax(x.astype(np.float64), axis))),
    "standardize": (nn.standardize, _standardize),
}


def mapped(f, *xs):
    """Map over the first axis, which `f` knows as "i"."""
    return sagax.vmap(f, axis_name="i")(*xs)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_a_name(name):
    ours, expected = REDUCTIONS[name]
    found = mapped(lambda x: ours(x, axis="i"), X)
    np.testing.assert_allclose(found, np.stack([expected(X, axis=0)] * 3), rtol=2e-5, atol=1e-6)
    found = sagax.jit(lambda x: mapped(lambda y: ours(y, axis=(1, "i")), x))(X)
    np.testing.assert_allclose(
        found, np.stack([expected(X, axis=(0, 2))] * 3), rtol=2e-5, atol=1e-6
    )
    kept = mapped(lambda x: ours(x, axis=("i", 0), keepdims=True), X)
    np.testing.assert_allclose(
        kept, np.concatenate([expected(X, axis=(0, 1), keepdims=True)] * 3), rtol=2e-5, atol=1e-6
    )


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_normalizations_over_a_name(name):
    ours, expected = ELEMENTWISE[name]
    found = mapped(lambda x: ours(x, axis="i"), X)
    np.testing.assert_allclose(found, expected(X, 0), rtol=1e-4, atol=1e-5)
    found = mapped(lambda x: ours(x, axis=(-1, "i")), X)
    np.testing.assert_allclose(found, expected(X, (0, 2)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_masks_over_a_name(name):
    ours, expected = REDUCTIONS[name]
    found = mapped(lambda x, m: ours(x, axis=("i", 1), where=m), X, MASK)
    whole = expected(X, axis=(0, 2), where=MASK)
    np.testing.assert_allclose(found, np.stack([whole] * 3), rtol=2e-5, atol=1e-6)


def test_further_options_over_a_name():
    """An initial value counts once; weights, degrees of freedom and a known mean are those of NumPy."""
    every = lambda f: mapped(f, X)[0]  # noqa: E731
    whole = X.astype(np.float64)
    close = {"rtol": 2e-5, "atol": 1e-6}
    np.testing.assert_allclose(
        every(lambda x: snp.sum(x, "i", initial=2.0)), whole.sum(0) + 2, **close
    )
    np.testing.assert_allclose(
        every(lambda x: snp.max(x, "i", initial=1.0)), whole.max(0, initial=1), **close
    )
    np.testing.assert_allclose(
        every(lambda x: snp.var(x, "i", ddof=1)), whole.var(0, ddof=1), **close
    )
    np.testing.assert_allclose(
        every(lambda x: snp.std(x, ("i", 0), mean=0.0)), np.sqrt((whole**2).mean((0, 1))), **close
    )
    np.testing.assert_allclose(
        every(lambda x: nn.logsumexp(x, "i", b=2.0)), _logsumexp(X, 0) + np.log(2), **close
    )
    assert every(lambda x: snp.mean(x.astype(int), "i")).dtype == np.float32
    assert every(lambda x: snp.sum(x.astype(bool), "i")).dtype == np.int32


def test_derivatives_over_a_name():
    def loss(x):
        y = mapped(lambda row: nn.log_softmax(row, axis=("i", 0)) * snp.var(row, axis="i"), x)
        return y.sum()

    def whole(x):
        return (nn.log_softmax(x, axis=(0, 1)) * snp.var(x, axis=0)).sum()

    np.testing.assert_allclose(sagax.grad(loss)(X), sagax.grad(whole)(X), rtol=1e-4, atol=1e-5)


def test_sums_over_axes_of_a_mesh_do_not_vary_along_it():
    mesh = sagax.make_mesh((1,), ("i",))
    total = sagax.shard_map(
        lambda x: (snp.sum(x, ("i", 0)), snp.max(x, ("i", 0)), snp.mean(x, ("i", 0))),
        mesh=mesh, in_specs=P("i"), out_specs=P(),
    )  # fmt: skip
    found = total(X)
    for one, expected in zip(found, (X.sum(0), X.max(0), X.mean(0)), strict=True):
        np.testing.assert_allclose(one, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["prod", "any", "all", "nanmax"])
def test_reductions_without_a_form_over_names(name):
    with pytest.raises(UnsupportedArgumentError, match="Named reductions") as caught:
        mapped(lambda x: getattr(snp, name)(x, axis="i"), X)
    assert isinstance(caught.value, NotImplementedError)
    with pytest.raises(NameError, match="unbound axis name"):
        snp.sum(X, axis="nowhere")
