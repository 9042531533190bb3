"""Convolutions: values, derivatives and batching as the oracle recorded them; definitions; errors."""

from __future__ import annotations

import itertools
import json

import ml_dtypes
import numpy as np
import pytest

import sagax
from convolution_cases import CONVOLUTION, VARIANTS, numbers, random_convolution
from convolution_oracle import agrees, check_derivatives, check_maps, check_values
from sagax import lax
from sagax._src import xla
from sagax._src.core import dims
from sagax._src.core.avals import intern_aval
from sagax._src.core.staging import stage
from sagax._src.lowering.module import lower_jaxpr, verify
from sagax._src.primitives.convolution import conv_general_shape_tuple, conv_shape_tuple
from sagax._src.primitives.convolution_layouts import conv_general_permutations
from sagax._src.primitives.convolution_variants import conv_transpose_shape_tuple
from sagax.errors import SagaxError
from slicing_cases import directions

CASES = CONVOLUTION | VARIANTS
RANDOM = 60
X, Y = numbers(2, 4, 8, 8), numbers(6, 4, 3, 3, salt="y")
NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("convolution")


@pytest.mark.parametrize("name", CASES)
def test_values(name, data):
    check_values(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.maps])
def test_maps(name, data):
    check_maps(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.derivative])
def test_derivatives(name, data):
    half = CASES[name].operands[0].dtype == np.float16
    check_derivatives(name, CASES[name], data, rounding=2e-3 if half else 0)


@pytest.mark.parametrize("k", range(RANDOM))
def test_random_forms(k, data):
    """Any layout, stride, dilation, padding and grouping: the result and both cotangents."""
    spec = json.loads(str(data[f"conv/{k}/spec"]))
    with_lax, operands = random_convolution(spec)
    want = data[f"conv/{k}/out"]

    def result_and_cotangents(x, y, ct):
        out, pull = sagax.vjp(with_lax(lax), x, y)
        return out, *pull(ct)

    (ct,) = directions(f"conv/{k}", [want])
    out, ct_x, ct_y = sagax.jit(result_and_cotangents)(*operands, ct)
    agrees(out, want, f"{spec}")
    agrees(ct_x, data[f"conv/{k}/ct/0"], f"cotangent of lhs, {spec}")
    agrees(ct_y, data[f"conv/{k}/ct/1"], f"cotangent of rhs, {spec}")


# Against the definition ---------------------------------------------------------------------------


def test_the_sum_that_defines_it():
    x, y = numbers(2, 3, 7), numbers(4, 3, 2)
    strides, (low, high), lhs_dilation, rhs_dilation = 2, (3, -1), 2, 3
    out = np.asarray(
        lax.conv_general_dilated(x, y, (strides,), [(low, high)], (lhs_dilation,), (rhs_dilation,))
    )
    for n, o, p in np.ndindex(*out.shape):
        total = 0.0
        for i, k in itertools.product(range(3), range(2)):
            place = p * strides + k * rhs_dilation - low
            if place >= 0 and place % lhs_dilation == 0 and place // lhs_dilation < 7:
                total += x[n, i, place // lhs_dilation] * y[o, i, k]
        assert out[n, o, p] == total
    assert out.shape[2] == (13 + low + high - 4) // strides + 1


def test_polynomials_multiply():
    """With the kernel flipped and padded to the full length it is what NumPy calls a convolution."""
    a, b = numbers(6), numbers(4, salt="b")
    out = lax.conv_general_dilated(a[None, None], b[None, None, ::-1], (1,), [(3, 3)])
    np.testing.assert_array_equal(out[0, 0], np.convolve(a, b))


def test_transposed_convolution_is_the_derivative():
    """conv_transpose with the same kernel and padding is the cotangent of the input."""
    x, y = numbers(2, 9, 3), numbers(4, 3, 5, salt="y")
    layout = ("NHC", "HIO", "NHC")

    def forward(x):
        return lax.conv_general_dilated(x, y, (2,), [(1, 2)], None, None, layout)

    out, pull = sagax.vjp(forward, x)
    ct = numbers(*out.shape, salt="ct")
    back = lax.conv_transpose(
        ct, y, (2,), [(1, 2)], dimension_numbers=layout, transpose_kernel=True,
        use_consistent_padding=True,
    )  # fmt: skip
    np.testing.assert_array_equal(back, pull(ct)[0][:, : back.shape[1]])
    assert back.shape[1] >= 8


def test_patches_move_infinities():
    x = np.array([[[1, np.inf, np.nan, 4]]], np.float32)
    patches = lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    np.testing.assert_array_equal(patches, [[[1, np.inf, np.nan], [np.inf, np.nan, 4]]])
    assert (
        lax.conv_general_dilated_patches(np.arange(6).reshape(1, 1, 6), (2,), (2,), "VALID").dtype
        == np.int32
    )


def test_patches_take_the_preferred_type():
    x = numbers(1, 1, 4, dtype=np.float16)
    out = lax.conv_general_dilated_patches(
        x, (2,), (1,), "VALID", preferred_element_type=np.float32
    )
    assert out.dtype == np.float32


@pytest.mark.parametrize("groups", [{}, {"feature_group_count": 2}, {"batch_group_count": 2}])
def test_second_derivatives(groups):
    """The Hessian of a sum of squares is twice J^T J, with the Jacobian by differences."""
    features = groups.get("feature_group_count", 1)
    x, y = numbers(2, 2 * features, 4), numbers(2, 2, 3, salt="y")

    def conv(x, y):
        return lax.conv_general_dilated(x, y, (2,), [(1, 2)], (2,), None, **groups)

    def loss(x, y):
        return (conv(x, y) ** 2).sum()

    for argument, at in enumerate((x, y)):
        size = at.size
        basis = np.eye(size, dtype=np.float32).reshape(size, *at.shape)
        moved = [conv(*((x, d)[:: 1 if argument else -1] if argument else (d, y))) for d in basis]
        jacobian = np.stack([np.asarray(m).ravel() for m in moved], 1)  # linear in each operand
        hessian = sagax.hessian(loss, argument)(x, y)
        np.testing.assert_allclose(
            np.asarray(hessian).reshape(size, size), 2 * jacobian.T @ jacobian, rtol=1e-5
        )


def test_bfloat16_derivatives_keep_the_precision_that_was_preferred():
    """Cotangents of the wide result meet operands that are widened, not the other way round."""
    x = np.full((1, 1, 1), 1, ml_dtypes.bfloat16)
    y = np.full((1, 1, 1), 1, ml_dtypes.bfloat16)

    def scaled(x):
        out = lax.conv_general_dilated(x, y, (1,), "VALID", preferred_element_type=np.float32)
        return out.sum() * (1 + 2**-12)

    program = str(sagax.make_jaxpr(sagax.grad(scaled))(x))
    assert "bf16" in program and sagax.grad(scaled)(x).dtype == ml_dtypes.bfloat16
    assert np.asarray(sagax.grad(scaled)(x), np.float32) == 1


def test_vmap_over_no_examples():
    x, y = np.zeros((0, 1, 2, 5), np.float32), np.zeros((0, 3, 2, 2), np.float32)

    def conv(x, y):
        return lax.conv(x, y, (1,), "VALID")

    assert sagax.vmap(conv)(x, y).shape == (0, 1, 3, 4)
    assert sagax.vmap(conv, (0, None))(x, y[0] if len(y) else numbers(3, 2, 2)).shape == (
        0,
        1,
        3,
        4,
    )


# Dimension numbers and shapes ---------------------------------------------------------------------


def test_dimension_numbers():
    shapes = (1, 2, 3, 4), (1, 2, 3, 4)
    numbers_of = lax.conv_dimension_numbers
    assert numbers_of(*shapes, None) == ((0, 1, 2, 3),) * 3
    assert numbers_of(*shapes, NHWC) == ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    assert numbers_of(*shapes, list(NHWC)) == numbers_of(*shapes, NHWC)
    # spatial dimensions follow the order of the kernel's letters
    assert numbers_of(*shapes, ("NCAB", "BAIO", "BANC")) == (
        (0, 1, 3, 2),
        (3, 2, 0, 1),
        (2, 3, 0, 1),
    )
    given = lax.ConvDimensionNumbers([0, 3, 1, 2], (3, 2, 0, 1), (0, 3, 1, 2))
    assert numbers_of(*shapes, given) == numbers_of(*shapes, NHWC)
    assert conv_general_permutations(NHWC) == tuple(numbers_of(*shapes, NHWC))


def test_shapes_alone():
    assert conv_shape_tuple((2, 4, 8, 8), (6, 4, 3, 3), (2, 2), "SAME") == (2, 6, 4, 4)
    assert conv_shape_tuple((4, 4, 8), (6, 4, 3), (2,), [(1, 1)], 2) == (2, 6, 4)
    shapes = (2, 8, 8, 4), (3, 3, 4, 6), (2, 2), "SAME", NHWC
    assert conv_general_shape_tuple(*shapes) == (2, 4, 4, 6)
    assert conv_transpose_shape_tuple(*shapes) == (2, 16, 16, 6)


@pytest.mark.parametrize("padding", ["VALID", "SAME", "SAME_LOWER", [(1, 2), (0, 0)]])
def test_symbolic_shapes(padding):
    """Staged for sizes b and n: for each size the shape is that of a concrete convolution.

    The program with both cotangents lowers to a module that verifies.
    """
    b, n = dims.symbolic_shape("b, n", constraints=["n >= 6"])
    kernel = numbers(3, 2, 3, 5)
    avals = [
        intern_aval(shape, np.dtype(np.float32), False, None)
        for shape in ((b, n, n + 1, 3), kernel.shape)
    ]

    def conv(x, y):
        return lax.conv_general_dilated(x, y, (2, 1), padding, None, (1, 2), NHWC)

    def with_cotangents(x, y):
        out, pull = sagax.vjp(conv, x, y)
        return [out, *pull(out)]

    jaxpr, _ = stage(with_cotangents, avals)
    verify(lower_jaxpr(jaxpr, platform="cpu", name="f")[0])
    out, *cotangents = jaxpr.out_avals
    assert [a.shape for a in cotangents] == [a.shape for a in avals]
    for size in (6, 9):
        want = conv(np.zeros((4, size, size + 1, 3), np.float32), kernel).shape
        assert tuple(dims.evaluate(d, {"b": 4, "n": size}) for d in out.shape) == want


def test_groups_of_symbolic_number():
    """What the compiler must know and does not is said."""
    (b,) = dims.symbolic_shape("b")
    f32 = np.dtype(np.float32)
    avals = [intern_aval((b, *s), f32, False, None) for s in ((1, 2, 5), (3, 2, 2))]
    both = sagax.vmap(lambda x, y: lax.conv(x, y, (1,), "VALID"))
    jaxpr, _ = stage(lambda x, y: [both(x, y)], avals)
    with pytest.raises(ValueError, match="the compiler needs to know groups, strides"):
        lower_jaxpr(jaxpr, platform="cpu", name="f")


def test_complex_numbers_where_the_engine_has_no_complex_convolution():
    """The program for such a platform, which has real convolutions only, run on the CPU."""
    x, y = numbers(1, 2, 5, dtype=np.complex64), numbers(3, 2, 2, dtype=np.complex64, salt="y")
    avals = [intern_aval(v.shape, v.dtype, False, None) for v in (x, y)]
    jaxpr, _ = stage(lambda x, y: [lax.conv(x, y, (1,), "SAME")], avals)
    text, _ = lower_jaxpr(jaxpr, platform="cuda", name="f")
    assert text.count("stablehlo.convolution") == 4
    client = xla.client.make_cpu_client(1)
    device = client.local_devices()[0]
    program = xla.compiler.compile(client, text, [device])
    (out,) = program.run([xla.put(v, device, share=False) for v in (x, y)])
    np.testing.assert_array_equal(xla.to_numpy(out), lax.conv(x, y, (1,), "SAME"))


# Errors -------------------------------------------------------------------------------------------


def _general(x=X, y=Y, strides=(1, 1), padding="SAME", *args, **how):
    return lambda: lax.conv_general_dilated(x, y, strides, padding, *args, **how)


def _numbers(*layouts):
    return lambda: lax.conv_dimension_numbers(X.shape, Y.shape, layouts)


ERRORS = {
    "missing letter": (_numbers("NHWD", "HWIO", "NHWC"), TypeError, "'NHWD', the layout of lhs, lacks the letter 'C'"),
    "missing kernel letter": (_numbers("NHWC", "HWIC", "NHWC"), TypeError, "dimension_numbers[1] = 'HWIC', the layout of rhs, lacks the letter 'O'"),
    "lower case": (_numbers("nhwc", "HWIO", "NHWC"), TypeError, "lacks the letter 'N'"),
    "repeated letter": (_numbers("NHWC", "HWIO", "NHHC"), TypeError, "the layout of the result, has the letter 'H' more than once"),
    "spatial letter of the kernel": (_numbers("NHWC", "HDIO", "NHWC"), TypeError, "'NHWC', the layout of lhs, has the spatial letter 'W', which dimension_numbers[1] = 'HDIO' lacks"),
    "spatial letter of the result": (_numbers("NHWC", "HWIO", "NHDC"), TypeError, "has the spatial letter 'D', which dimension_numbers[1]"),
    "number of letters": (_numbers("NHC", "HWIO", "NHWC"), TypeError, "'NHC', the layout of lhs, has 3 letters"),
    "two layouts": (_numbers("NHWC", "HWIO"), TypeError, "three strings like ('NHWC', 'HWIO', 'NHWC')"),
    "no layouts": (lambda: lax.conv_dimension_numbers(X.shape, Y.shape, 5), TypeError, "three strings"),
    "no permutation": (_general(dimension_numbers=lax.ConvDimensionNumbers((0, 0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3))), TypeError, "dimension_numbers.lhs_spec must be a permutation"),
    "ranks": (_general(y=Y[0]), TypeError, "lhs of shape (2, 4, 8, 8) and rhs of shape (4, 3, 3)"),
    "rank 1": (_general(X[0, 0, 0], Y[0, 0, 0], (), ()), TypeError, "at least 2"),
    "features": (_general(y=Y[:, :3]), ValueError, "the input features of lhs and rhs differ: 4 (axis 1 of lhs) and 3 (axis 1 of rhs)"),
    "features in groups": (_general(y=Y[:, :3], feature_group_count=2), ValueError, "in each of 2 groups"),
    "output groups": (_general(y=Y[:5, :2], feature_group_count=2), ValueError, "5 output features (axis 0 of rhs) cannot be split into 2 equal groups"),
    "batch groups": (_general(batch_group_count=3), ValueError, "2 examples (axis 0 of lhs) cannot be split into 3 equal groups"),
    "no groups": (_general(feature_group_count=0), ValueError, "feature_group_count must be at least 1; got 0"),
    "fraction of a group": (_general(feature_group_count=1.5), TypeError, "feature_group_count"),
    "both groups": (_general(y=Y[:, :2], batch_group_count=2, feature_group_count=2), ValueError, "feature_group_count=2 and batch_group_count=2"),
    "padding name": (_general(padding="FOO"), ValueError, "got 'FOO'"),
    "padding pairs": (_general(padding=[(0, 0)]), TypeError, "padding must be 2 entries"),
    "padding of ints": (_general(padding=[1, 1]), TypeError, "a pair of ints (low, high) for each dimension"),
    "padding by name of a dilated input": (_general(lhs_dilation=(2, 2)), ValueError, "lax.conv_transpose takes names"),
    "too negative padding": (_general(padding=[(-5, -5), (0, 0)]), ValueError, "dimension 0 of size 8 would get the negative size -2"),
    "number of strides": (_general(strides=(2,)), TypeError, "window_strides must be 2 entries"),
    "stride 0": (_general(strides=(0, 1)), TypeError, "window_strides[0] must be at least 1; got 0"),
    "dilation 0": (_general(padding="VALID", rhs_dilation=(1, 0)), TypeError, "rhs_dilation[1] must be at least 1; got 0"),
    "kernel without elements": (_general(y=Y[:, :, :0], padding="VALID"), TypeError, "rhs[0] must be at least 1; got 0"),
    "dtypes": (_general(y=Y.astype(np.int32)), TypeError, "float32, int32"),
    "narrow result": (_general(preferred_element_type=np.float16), TypeError, "preferred_element_type must be a dtype of the kind of float32 that is no narrower"),
    "integer result": (_general(preferred_element_type=np.int32), TypeError, "got int32"),
    "precision": (_general(precision="much"), ValueError, "precision"),
    "lists": (lambda: lax.conv([[[1.0]]], Y, (1,), "SAME"), TypeError, "list"),
    "transposed padding name": (lambda: lax.conv_transpose(X, Y, (2, 2), "SAME_LOWER"), ValueError, "'SAME', 'VALID', or pairs"),
    "transposed strides": (lambda: lax.conv_transpose(X, Y, (2,), "SAME"), TypeError, "strides must be 2 entries"),
    "patch shape": (lambda: lax.conv_general_dilated_patches(X, (2,), (1, 1), "SAME"), TypeError, "filter_shape must be 2 entries"),
    "local positions": (lambda: lax.conv_general_dilated_local(X, np.ones((6, 36, 8, 7), "f"), (1, 1), "SAME", (3, 3)), ValueError, "axis 3 of rhs has size 7, but there are 8 positions"),
    "local features": (lambda: lax.conv_general_dilated_local(X, np.ones((6, 4, 8, 8), "f"), (1, 1), "SAME", (3, 3)), ValueError, "axis 1 of rhs has size 4, but there are 36 input features times elements of a patch"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, builtin, text = ERRORS[name]
    with pytest.raises(builtin) as caught:
        call()
    assert isinstance(caught.value, SagaxError)
    assert text in str(caught.value)
    if name != "lists":
        assert str(caught.value).startswith("conv_")
