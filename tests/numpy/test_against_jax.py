"""Small behaviours of jax 0.12 that no larger table holds; the expected values are what it gives."""

import pytest

import sagax
import sagax.numpy as snp
import sagax.scipy.linalg as jsp_linalg
from sagax import lax

TOO_WIDE = pytest.warns(FutureWarning, match="incompatible types")


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize(
    "method, value, expected",
    [("add", 1.5, [101, -1, 7]), ("multiply", 1.5, [150, -4, 7]), ("set", 2.75, [2, 2, 7])],
)
def test_updates_that_the_dtype_cannot_hold_are_computed_wide(method, value, expected, jitted):
    def change(x):
        return getattr(x.at[:2], method)(value)

    with TOO_WIDE:
        found = (sagax.jit(change) if jitted else change)(snp.array([100, -3, 7], dtype="int32"))
    assert found.dtype == snp.int32
    assert found.tolist() == expected


def test_numbers_are_added_to_booleans_and_cut_back():
    x = snp.array([True, False])
    with TOO_WIDE:
        assert x.at[1].add(2).tolist() == [True, True]
    with TOO_WIDE:
        assert x.at[0].multiply(0).tolist() == [False, False]
    with pytest.raises(TypeError):
        x.at[0].add(True)


@pytest.mark.parametrize("function", ["union1d", "setxor1d", "intersect1d"])
def test_sets_keep_the_weak_type_of_the_common_dtype(function):
    found = getattr(snp, function)(snp.array([1, 2, 3]), 2.5)
    assert (found.dtype, found.weak_type) == (snp.float32, True)


def test_a_difference_of_sets_has_the_type_of_its_first_argument():
    assert snp.setdiff1d(2.5, snp.array([1, 2])).weak_type
    assert not snp.setdiff1d(snp.array([1, 2]), 2.5).weak_type


def test_filling_of_sized_sets():
    a, b = snp.array([1, 2]), snp.array([3, 4])
    assert snp.setxor1d(a, a, size=2).tolist() == [0, 0]
    assert snp.intersect1d(a, b, size=2).tolist() == [0, 0]
    assert snp.setxor1d(a, b, size=6).tolist() == [1, 2, 3, 4, 1, 1]
    nan = snp.array([1.0, snp.nan])
    found = snp.setxor1d(nan, nan + 1, size=5, fill_value=-7).tolist()
    assert found[:2] == [1.0, 2.0] and found[4] == -7
    assert found[2] != found[2] and found[3] != found[3]


def test_weak_types_of_single_functions():
    weak = snp.full(3, 2)
    assert weak.weak_type
    assert not (3**weak).weak_type
    assert not snp.choose(snp.array([0, 1, 1]), [weak, weak]).weak_type
    assert not snp.cross(snp.arange(3), snp.full(3, 2.0)).weak_type
    assert snp.tensordot(snp.arange(3), 2.5, axes=0).weak_type


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2"])
def test_narrow_floats_are_shown_as_numpy_shows_them(dtype):
    x = snp.ones(2, dtype)
    assert repr(x) == f"Array([1, 1], dtype={dtype})"
    assert f"{snp.ones((), dtype)}" == "1.0"


def test_empty_arrays_are_shown_with_their_shape():
    assert repr(snp.zeros(0)) == "Array([], shape=(0,), dtype=float32)"


@pytest.mark.parametrize("convert", [float, int])
def test_complex_scalars_have_no_real_value(convert):
    with pytest.raises(TypeError, match=r"x\.real"):
        convert(snp.array(1j))


def test_arrays_have_no_flat():
    with pytest.raises(NotImplementedError, match="ravel"):
        snp.ones(2).flat  # noqa: B018


GROUPS = [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "collective",
    [
        lambda v: lax.psum(v, "i", axis_index_groups=GROUPS),
        lambda v: lax.all_gather(v, "i", axis_index_groups=GROUPS),
        lambda v: lax.psum_scatter(v, "i", axis_index_groups=GROUPS),
        lambda v: sagax.grad(lambda u: lax.pmax(u, "i").sum())(v),
    ],
)
def test_what_collectives_do_not_do_under_vmap_is_not_implemented(collective):
    with pytest.raises(NotImplementedError):
        sagax.vmap(collective, axis_name="i")(snp.ones((4, 2)))


def test_sizes_that_collectives_cannot_divide_are_wrong_values():
    x = snp.ones((4, 8))
    with pytest.raises(ValueError, match="must have the size"):
        sagax.vmap(lambda v: lax.all_to_all(v, "i", 0, 0), axis_name="i")(x)


@pytest.mark.parametrize(
    "value, dtype, weak",
    [(2, "int32", True), (1j, "complex64", True), (True, "int32", False)],
)
def test_weak_types_of_sums_of_constants_over_an_axis(value, dtype, weak):
    for constant in (value, snp.asarray(value)):
        found = sagax.vmap(lambda _: lax.psum(constant, "i"), axis_name="i")(snp.ones(4))  # noqa: B023
        assert (str(found.dtype), found.weak_type) == (dtype, weak)
        assert found.tolist() == [4 * value] * 4
    mean = sagax.vmap(lambda _: lax.pmean(snp.asarray(2.0), "i"), axis_name="i")(snp.ones(4))
    assert mean.weak_type and mean.tolist() == [2.0] * 4


@pytest.mark.parametrize("shape", [(0, 3, 3), (0, 0), (2, 0, 0)])
def test_linear_algebra_of_no_matrices(shape):
    a = snp.ones(shape)
    assert snp.linalg.inv(a).shape == shape
    assert sagax.jit(snp.linalg.inv)(a).shape == shape
    assert snp.linalg.solve(a, a[..., :1]).shape == a[..., :1].shape
    assert jsp_linalg.expm(a).shape == shape
    assert jsp_linalg.lu_solve(jsp_linalg.lu_factor(a), a, trans=1).shape == shape
    assert sagax.grad(lambda a: snp.linalg.inv(a).sum())(a).shape == shape


def _tangents(x):
    return sagax.jvp(lambda x: (2 * x, {"positive": x > 0, "n": 3}), (x,), (x,))[1]


def test_jitted_functions_return_tangents_of_integers():
    x = snp.array([1.0, -2.0])
    for _ in range(2):
        moved, rest = sagax.jit(_tangents)(x)
        assert moved.tolist() == [2.0, -4.0]
        assert rest["positive"].dtype == sagax.dtypes.float0 and rest["positive"].shape == (2,)
        assert rest["n"].dtype == sagax.dtypes.float0 and rest["n"].shape == ()
    nested = sagax.jit(lambda x: sagax.jit(_tangents)(x)[0])
    assert sagax.grad(lambda x: nested(x).sum())(x).tolist() == [2.0, 2.0]

    @sagax.jit
    def gradient(tree):
        return sagax.grad(lambda t: t["w"] * t["n"], allow_int=True)(tree)

    found = gradient({"w": 2.0, "n": 3})
    assert float(found["w"]) == 3.0 and found["n"].dtype == sagax.dtypes.float0


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("out_axes, shape", [(0, (3, 2)), (1, (2, 3)), (-1, (2, 3))])
def test_mapped_functions_return_tangents_of_integers(jitted, out_axes, shape):
    def tangent(x):
        return sagax.jvp(lambda x: (2 * x, x > 0), (x,), (x,))[1]

    mapped = sagax.vmap(tangent, out_axes=out_axes)
    moved, rest = (sagax.jit(mapped) if jitted else mapped)(snp.ones((3, 2)))
    assert moved.shape == rest.shape == shape
    assert rest.dtype == sagax.dtypes.float0
    assert float(moved[0, 0]) == 2.0


def test_a_mean_of_wide_integers_over_an_axis_is_a_wide_float():
    with sagax.enable_x64(True):
        for dtype, expected in [("int64", "float64"), ("int32", "float32"), ("bool", "float32")]:
            found = sagax.vmap(lambda v: lax.pmean(v, "i"), axis_name="i")(snp.ones(2, dtype))
            assert found.dtype == expected
            assert found.tolist() == [1.0, 1.0]
