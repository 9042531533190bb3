"""Convolutions with groups as sums of slices, or as one convolution for each group, beside the NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src.primitives.convolution import conv_general_dilated_p

RNG = np.random.default_rng(0)
NHWC = ("NHWC", "HWIO", "NHWC")


def draw(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


# operand, kernel, groups of features, options
FORMS = {
    "same": ((2, 6, 5, 4), (3, 3, 1, 4), 4, {"padding": "SAME"}),
    "multiplier": ((2, 6, 5, 3), (3, 2, 1, 6), 3, {"padding": "SAME"}),
    "stride": ((1, 7, 8, 4), (3, 3, 1, 4), 4, {"padding": "SAME", "window_strides": (2, 3)}),
    "uneven padding": ((1, 6, 5, 2), (2, 3, 1, 2), 2, {"padding": ((2, 0), (0, 3))}),
    "negative padding": ((1, 8, 7, 2), (2, 3, 1, 2), 2, {"padding": ((-1, 0), (1, -2))}),
    "dilated kernel": ((1, 9, 8, 2), (3, 2, 1, 4), 2, {"padding": "SAME", "rhs_dilation": (2, 3)}),
    "dilated input": ((1, 4, 5, 2), (3, 3, 1, 2), 2, {"padding": ((1, 2), (2, 1)), "lhs_dilation": (2, 3)}),
    "both, strided": ((2, 5, 4, 3), (2, 3, 1, 3), 3, {"padding": ((1, 2), (2, 1)), "lhs_dilation": (2, 1), "rhs_dilation": (1, 2), "window_strides": (3, 2)}),
    "as large as the input": ((2, 3, 3, 2), (3, 3, 1, 2), 2, {"padding": "VALID"}),
    "few groups": ((2, 5, 6, 6), (3, 3, 2, 9), 3, {"padding": "SAME"}),
    "few groups, strided": ((2, 5, 6, 8), (3, 2, 4, 4), 2, {"padding": "SAME", "window_strides": (2, 1)}),
}  # fmt: skip


def convolution(form, dtype=np.float32):
    shape, kernel, groups, options = form
    options = {"window_strides": (1, 1), **options}

    def f(x, w):
        return lax.conv_general_dilated(
            x, w, dimension_numbers=NHWC, feature_group_count=groups, **options
        )

    return f, draw(*shape, dtype=dtype), draw(*kernel, dtype=dtype)


def reference(f, *args):
    """Run the one convolution of `f` by its NumPy reference."""
    jaxpr = sagax.make_jaxpr(f)(*args).jaxpr
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is conv_general_dilated_p]
    values = [args[jaxpr.invars.index(v)] for v in eqn.invars]
    return conv_general_dilated_p.rule("reference")(*values, **eqn.params)


def convolutions(f, *args):
    return sagax.jit(f).lower(*args).as_text().count("stablehlo.convolution")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_values(form):
    f, x, w = convolution(form)
    np.testing.assert_allclose(sagax.jit(f)(x, w), reference(f, x, w), rtol=2e-5, atol=2e-5)
    assert convolutions(f, x, w) == (form[2] if "few" in name_of(form) else 0)


def name_of(form):
    return next(name for name, value in FORMS.items() if value is form)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_derivatives_are_those_of_a_bilinear_map(form):
    f, x, w = convolution(form, np.float64)
    with sagax.enable_x64(True):
        out = reference(f, x, w)
        ct = draw(*out.shape, dtype=np.float64)
        dx, dw = sagax.jit(lambda x, w: sagax.vjp(f, x, w)[1](ct))(x, w)
        # <ct, f(t, w)> for each unit vector t is an element of dx, and likewise for w
        for found, place in ((dx, 0), (dw, 1)):
            args = [x, w]
            for index in list(np.ndindex(found.shape))[:: max(1, found.size // 7)]:
                unit = np.zeros(found.shape)
                unit[index] = 1
                args[place] = unit
                expected = (reference(f, *args) * ct).sum()
                np.testing.assert_allclose(found[index], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("numbers", [("NCHW", "OIHW", "NCHW"), ("HWNC", "IHWO", "CNWH")])
def test_layouts(numbers):
    sizes = {"N": 2, "C": 4, "H": 5, "W": 6}
    x = draw(*[sizes[letter] for letter in numbers[0]])
    w = draw(*[{"O": 8, "I": 1, "H": 3, "W": 2}[letter] for letter in numbers[1]])

    def f(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 2), "SAME", dimension_numbers=numbers, feature_group_count=4
        )

    np.testing.assert_allclose(sagax.jit(f)(x, w), reference(f, x, w), rtol=2e-5, atol=2e-5)
    ct = draw(*reference(f, x, w).shape)
    back = sagax.jit(lambda w: sagax.vjp(lambda w: f(x, w), w)[1](ct)[0])
    assert convolutions(back, w) == 0
    # the map is linear in w, so that the cotangent gives the same inner product
    left, right = np.vdot(back(w), w), np.vdot(ct, reference(f, x, w))
    np.testing.assert_allclose(left, right, rtol=1e-4)


def test_one_dimension_and_vmap_of_both():
    x, w = draw(3, 2, 9, 4), draw(3, 3, 1, 4)

    def f(x, w):
        return lax.conv_general_dilated(
            x, w, (2,), [(2, 0)], dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=4
        )

    found = sagax.jit(sagax.vmap(f))(x, w)
    for i in range(3):
        np.testing.assert_allclose(found[i], reference(f, x[i], w[i]), rtol=2e-5, atol=2e-5)


def test_what_stays_a_convolution():
    f, x, w = convolution(FORMS["same"])
    with sagax.config.context(exact=True):
        assert convolutions(f, x, w) == 1
    # the operation by itself is rewritten, and `jit(exact=True)` gives its bits
    exactly = sagax.jit(lambda x, w: f(x * 1.5, w) * 1.1, exact=True)(x, w)
    assert np.array_equal(exactly, f(sagax.numpy.asarray(x) * 1.5, w) * 1.1)
    many = (1, 8, 8, 34), (3, 3, 2, 34), 17, {"padding": "SAME"}
    assert convolutions(*convolution(many)) == 1
    large = (1, 12, 12, 2), (9, 9, 1, 2), 2, {"padding": "SAME"}
    f, x, w = convolution(large)
    assert convolutions(f, x, w) == 2  # one for each group
    np.testing.assert_allclose(sagax.jit(f)(x, w), reference(f, x, w), rtol=1e-4, atol=1e-4)
    integers = np.arange(16).reshape(1, 2, 2, 4), np.ones((1, 1, 1, 4), int)
    assert convolutions(convolution(FORMS["same"])[0], *map(np.int32, integers)) == 1


def test_without_elements():
    f, _, w = convolution(FORMS["same"])
    assert sagax.jit(f)(np.zeros((0, 6, 5, 4), np.float32), w).shape == (0, 6, 5, 4)
