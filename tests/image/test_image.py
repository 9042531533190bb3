"""`ops`, `image`, `dlpack` and `scipy.ndimage`: against recorded values of jax and against SciPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage

import sagax
import sagax.numpy as snp
from image_cases import cases, wave
from sagax import dlpack, image, ops
from sagax.scipy import ndimage

CASES = dict(cases(sagax))
RECORDED = np.load(Path(__file__).resolve().parents[1] / "data" / "image.npz")


def test_the_recorded_cases_are_these():
    assert set(CASES) == set(RECORDED.files)


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name):
    found, expected = np.asarray(CASES[name]()), RECORDED[name]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=3e-6)


# -- image ------------------------------------------------------------------------------------------


def test_the_names_of_the_methods():
    assert image.ResizeMethod.from_string("triangle") is image.ResizeMethod.LINEAR
    assert [m.name for m in image.ResizeMethod] == [
        *("NEAREST", "LINEAR", "LANCZOS3", "LANCZOS5", "CUBIC", "CUBIC_PYTORCH", "AREA")
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: image.resize(x, (2,), "linear"), "shape must have length equal"),
        (lambda x: image.resize(x, (2, 2), "smooth"), "Unknown resize method"),
        (lambda x: image.resize(x[:0], (2, 4), "linear"), "empty"),
        (
            lambda x: image.scale_and_translate(
                x, (3, 4), (0,), snp.ones(1), snp.zeros(1), "nearest"
            ),
            "not currently supported",
        ),
        (
            lambda x: image.scale_and_translate(
                x, (2, 2), (0,), snp.ones(1), snp.zeros(1), "linear"
            ),
            "not among spatial_dims",
        ),
        (
            lambda x: image.scale_and_translate(
                x, (3, 4), (0, -2), snp.ones(2), snp.zeros(2), "linear"
            ),
            "different dimensions",
        ),
        (
            lambda x: image.scale_and_translate(
                x, (3, 4), (0, 1), snp.ones(1), snp.zeros(2), "linear"
            ),
            "a vector with a number for each",
        ),
    ],
)
def test_what_image_refuses(call, words):
    with pytest.raises((ValueError, NotImplementedError), match=words):
        call(snp.ones((3, 4)))


def test_scale_and_translation_can_be_differentiated_and_traced():
    x = snp.asarray(wave((6,)))

    def f(t):
        moved = image.scale_and_translate(x, (6,), (0,), snp.ones(1), t[None], "cubic")
        return snp.sum(moved**2)

    t, h = snp.array(0.3), 1e-2
    slope = (float(f(t + h)) - float(f(t - h))) / (2 * h)
    assert float(sagax.jit(sagax.grad(f))(t)) == pytest.approx(slope, rel=2e-2)


# -- ndimage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "scipys"),
    [
        ("nearest", "nearest"),
        ("wrap", "grid-wrap"),
        ("mirror", "mirror"),
        ("constant", "grid-constant"),
    ],
)
def test_map_coordinates_as_scipy(mode, scipys):
    x = wave((5, 4))
    places = wave((2, 40)).astype("float64") * 8
    expected = scipy.ndimage.map_coordinates(x, places, order=1, mode=scipys, cval=0.5)
    found = ndimage.map_coordinates(snp.asarray(x), snp.asarray(places), 1, mode=mode, cval=0.5)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_map_coordinates_refuses():
    x = snp.ones((3, 4))
    with pytest.raises(ValueError, match="length input.ndim, but 1 != 2"):
        ndimage.map_coordinates(x, [snp.zeros(1)], 1)
    with pytest.raises(NotImplementedError, match="order<=1"):
        ndimage.map_coordinates(x, snp.zeros((2, 1)), 3)
    with pytest.raises(NotImplementedError, match="mode periodic"):
        ndimage.map_coordinates(x, snp.zeros((2, 1)), 1, mode="periodic")


# -- ops ----------------------------------------------------------------------------------------------


def test_segments_are_summed_while_tracing_if_their_number_is_static():
    x, ids = snp.arange(5.0), snp.array([0, 0, 1, 1, 4])
    found = sagax.jit(ops.segment_sum, static_argnames="num_segments")(x, ids, num_segments=3)
    assert found.tolist() == [1.0, 5.0, 0.0]
    weights = snp.array([1.0, 10.0, 100.0])
    gradient = sagax.grad(lambda x: snp.sum(ops.segment_sum(x, ids, 3) * weights))(x)
    assert gradient.tolist() == [1.0, 1.0, 10.0, 10.0, 0.0]
    with pytest.raises(TypeError, match="needs the argument num_segments"):
        sagax.jit(ops.segment_sum)(x, ids)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: ops.segment_sum(snp.ones(2), snp.arange(2), -1),
            ValueError,
            "must be non-negative",
        ),
        (lambda: ops.segment_sum(snp.ones(2), snp.ones(2)), TypeError, "array of integers"),
        (lambda: ops.segment_sum([1, 2], [0, 1]), TypeError, "requires ndarray or scalar"),
        (
            lambda: ops.segment_sum(snp.ones(2) > 0, snp.arange(2)),
            TypeError,
            "does not add booleans",
        ),
        (lambda: ops.segment_max(snp.ones(0), snp.zeros(0, int)), ValueError, "no identity"),
        (lambda: ops.segment_sum(snp.ones((3, 2)), snp.arange(2)), ValueError, "broadcast"),
    ],
)
def test_what_segments_refuse(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("index_update", [0, 5, 5, 3]),
        ("index_add", [0, 6, 7, 3]),
        ("index_mul", [0, 5, 10, 3]),
        ("index_min", [0, 1, 2, 3]),
        ("index_max", [0, 5, 5, 3]),
    ],
)
def test_older_updates_warn_at_the_line_that_uses_them(name, expected):
    with pytest.warns(
        DeprecationWarning, match=rf"ops.{name}.* is deprecated: write x.at"
    ) as caught:
        found = getattr(ops, name)(snp.arange(4), ops.index[1:3], 5)
    assert found.tolist() == expected
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:ops.index_update:DeprecationWarning")
def test_masks_must_be_concrete_for_older_updates():
    x = snp.arange(-2, 2)
    assert ops.index_update(x, x < 0, 0).tolist() == [0, 0, 0, 1]
    with pytest.raises(sagax.errors.NonConcreteBooleanIndexError):
        sagax.jit(lambda x: ops.index_update(x, x < 0, 0))(x)


# -- dlpack -------------------------------------------------------------------------------------------


def test_dlpack_shares_memory_with_numpy():
    x = np.arange(64, dtype="float32")
    assert dlpack.from_dlpack(x, copy=True).tolist() == x.tolist()
    assert np.from_dlpack(snp.arange(4.0)).tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="__dlpack__"):
        dlpack.from_dlpack([1, 2])


def test_dtypes_that_dlpack_has():
    yes = "bool int8 uint64 float16 bfloat16 float64 complex128".split()
    no = "int4 float8_e4m3fn float4_e2m1fn".split()
    assert [dlpack.is_supported_dtype(d) for d in (*yes, *no)] == [True] * 7 + [False] * 3
    with pytest.raises(TypeError, match="foo"):
        dlpack.is_supported_dtype("foo")


def test_the_namespaces_are_there_without_importing_them():
    assert sagax.image.resize is image.resize and sagax.ops.segment_sum is ops.segment_sum
    assert sagax.dlpack.from_dlpack is dlpack.from_dlpack
