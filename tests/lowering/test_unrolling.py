"""Which jaxprs let LLVM unroll further: those whose work is the reduction of columns of integers and booleans."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning
from sagax._src.lowering.unrolling import unroll_threshold

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(-50, 50, (200, 100)).astype("int32")
FEW, MANY = tuning.UNROLL_THRESHOLD, tuning.COLUMNS_UNROLL_THRESHOLD


def chosen(f, *args):
    return unroll_threshold(sagax.make_jaxpr(f)(*args).jaxpr.jaxpr, FEW)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x.max(0), MANY),
        (lambda x: (x > 3).any(0), MANY),
        (lambda x: sagax.jit(lambda y: (y != 0).astype("int32").sum(0))(x) + 1, MANY),
        (lambda x: snp.max(x.reshape(10, 20, 100), 1), MANY),
        (lambda x: x.max(1), FEW),
        (lambda x: x.max(), FEW),
        (lambda x: x[:10].max(0), FEW),  # too few
        (lambda x: (x.max(0), x.min(1), x.max(1)), FEW),  # more rows
        (lambda x: x.astype("float32").max(0), FEW),
        (lambda x: lax.fori_loop(0, 3, lambda i, x: x + x.max(0), x), FEW),
        (lambda x: (x.max(0), snp.float32(x) @ snp.ones((100, 100), "float32")), FEW),
    ],
)
def test_columns_of_integers_are_unrolled_further(f, expected):
    assert chosen(f, NUMBERS) == expected


def test_a_threshold_of_the_user_stays():
    jaxpr = sagax.make_jaxpr(lambda x: x.max(0))(NUMBERS).jaxpr.jaxpr
    assert unroll_threshold(jaxpr, 60) == 60
    assert unroll_threshold(jaxpr, None) is None


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("name", ["max", "min", "sum", "any", "all", "prod"])
@pytest.mark.parametrize("shape", [(200, 100), (33, 500), (5000, 2)])
def test_values(name, axis, shape):
    x = RNG.integers(-2, 3, shape).astype("int32")
    got = sagax.jit(lambda x: getattr(snp, name)(x, axis))(x)
    with np.errstate(over="ignore"):
        want = getattr(np, name)(
            x,
            axis,
            **(
                {}
                if name in ("any", "all")
                else {"dtype": "int32"}
                if name in ("sum", "prod")
                else {}
            ),
        )
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45])
def test_extrema_are_nan_where_an_element_is(special, axis):
    x = RNG.standard_normal((300, 200)).astype("float32")
    x[7, 5] = special
    x[9, :3] = -special
    for name in ("max", "min"):
        got = sagax.jit(lambda x, name=name: getattr(snp, name)(x, axis))(x)
        np.testing.assert_array_equal(got, getattr(np, name)(x, axis))
