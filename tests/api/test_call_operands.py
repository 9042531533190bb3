"""Host operands and static operands of jitted calls: first calls and later, quick ones give the same."""

import functools
import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src import xla
from sagax._src.api import call_operands
from sagax._src.runtime import devices

REPEATS = 3


def test_numpy_arrays_of_all_kinds_keep_their_values():
    total = sagax.jit(lambda a, b: a + b)
    base = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    kinds = [
        base,
        base[::2, 1::2],
        base.T,
        np.asfortranarray(base),
        base.astype(np.float64),
        base.astype(np.int64),
        base > 3,
        base[:0],
        np.asarray(2.5, np.float32),
        base.astype(snp.bfloat16),
    ]
    for x in kinds:
        want = np.asarray(snp.asarray(x) + snp.asarray(x))
        for _ in range(REPEATS):
            got = total(x, x)
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype


@pytest.mark.parametrize("size", [3, 1000, 16_000, 40_000])
def test_arrays_may_change_as_soon_as_the_call_returns(size):
    last = sagax.jit(lambda a: a[-1])
    x = np.zeros(size, np.float32)
    for i in range(300):
        x[:] = i
        got = last(x)
        x[:] = -1
        assert got == i


def test_xla_copies_small_arrays_within_the_call():
    put = xla.put_of_type((1000,), np.dtype("f4"), devices.default_device(), share=False)
    x = np.zeros(1000, np.float32)
    for i in range(3000):
        x[:] = i
        buffer = put(x)
        x[:] = -1
        assert xla.to_numpy(buffer)[-1] == i


def test_numbers_keep_their_type_and_sign():
    same = sagax.jit(lambda a: a)
    for _ in range(REPEATS):
        for x in (0.0, -0.0, 1.0, 1, True, 0, False, float("nan"), float("inf"), -3, 2.5):
            got = same(x)
            assert got.dtype == snp.asarray(x).dtype
            assert got.weak_type == (type(x) is not bool)
            np.testing.assert_array_equal(np.asarray(got), np.asarray(x, got.dtype))
            assert np.signbit(np.asarray(got, float)) == np.signbit(np.float64(x))


def test_numpy_scalars_are_strongly_typed():
    same = sagax.jit(lambda a: a)
    for _ in range(REPEATS):
        for x in (
            np.float32(2),
            np.float64(2),
            np.int8(-3),
            np.int64(7),
            np.bool_(True),
            np.complex64(1j),
        ):
            got = same(x)
            assert got.dtype == snp.asarray(x).dtype and not got.weak_type
            assert got == x


def test_numbers_out_of_range_raise_each_time():
    same = sagax.jit(lambda a: a)
    same(1)
    for _ in range(REPEATS):
        with pytest.raises(OverflowError):
            same(2**40)


def test_numbers_that_overflow_warn_at_the_line_that_passes_them():
    double = sagax.jit(lambda x: 2 * x)
    for x in (1e300, -1e300, 1e300 + 1j, complex(1.7e308, 1.7e308)):
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast from") as found:
            got = double(x)
        assert not np.isfinite(got)
        assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert double(float("inf")) == np.inf
        assert double(3.4028234e38) == np.inf  # only the product overflows, on the device


def test_settings_between_calls_are_heeded():
    same = sagax.jit(lambda a: a)
    x = np.arange(3.0)
    for _ in range(REPEATS):
        assert same(x).dtype == np.float32
        assert same(1.5).dtype == np.float32
        with sagax.enable_x64(True):
            assert same(x).dtype == np.float64
            assert same(1.5).dtype == np.float64
        with sagax.transfer_guard("disallow"), pytest.raises(RuntimeError):
            same(x)


def test_donated_numbers_can_be_passed_again():
    step = sagax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=(0, 1))
    for _ in range(REPEATS):
        a, b = step(snp.asarray(1.0), 2.0)
        assert (a, b) == (2, 4)


def test_pytrees_mix_arrays_numbers_and_host_arrays():
    total = sagax.jit(lambda t, k=1: t["a"][0] + t["a"][1] * t["b"] + k)
    for _ in range(REPEATS):
        got = total({"a": [snp.ones(2), np.ones(2, np.float32)], "b": 2.0}, k=3)
        np.testing.assert_array_equal(got, [6.0, 6.0])


STATIC = [
    0,
    False,
    0.0,
    -0.0,
    None,
    "0",
    b"0",
    (0,),
    (False,),
    (0.0,),
    (-0.0,),
    ((0,),),
    ((False,),),
    int,
    bool,
    len,
    np.float32(0),
    1,
    True,
    1.0,
    (1, "a"),
    frozenset({1}),
]


@pytest.mark.parametrize("by_name", [False, True])
def test_static_values_that_are_equal_but_differ_are_distinct(by_name):
    seen = []
    if by_name:
        jitted = sagax.jit(lambda x, k: (seen.append(k), x)[1], static_argnames="k")
        call = functools.partial(jitted, 1.0)
    else:
        jitted = sagax.jit(lambda k, x: (seen.append(k), x)[1], static_argnums=0)

        def call(k):
            return jitted(k, 1.0)

    for _ in range(REPEATS):
        for value in STATIC:
            assert (call(k=value) if by_name else call(value)) == 1.0
    assert [repr(x) for x in seen] == [repr(x) for x in STATIC]


def test_negative_static_positions_depend_on_the_number_of_arguments():
    scaled = sagax.jit(lambda *xs: xs[0] * xs[-1], static_argnums=-1)
    for _ in range(REPEATS):
        assert scaled(3.0, 2) == 6
        assert scaled(3.0, 1.0, 4) == 12


def test_unhashable_static_names_the_argument():
    jitted = sagax.jit(lambda x, widths: x, static_argnums=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="widths of .* is static"):
            jitted(1.0, [1, 2])


def test_clear_caches_forgets_the_types_of_results():
    from sagax._src.lowering.text import tensor_type
    from sagax._src.primitives.arithmetic import mul_p
    from sagax.numpy import _base

    x = snp.ones((3, 5, 7))
    (x * 2).block_until_ready()
    sagax.jit(lambda x: x * x)(x)
    assert mul_p._abstract_cache and _base._scalars_like
    for _ in range(2):  # also what is added after the first time
        sagax.clear_caches()
        assert not mul_p._abstract_cache and not _base._scalars_like
        assert not tensor_type.cache_info().currsize
        assert (x * 2).shape == (3, 5, 7) and mul_p._abstract_cache


def test_clear_caches_forgets_functions_beyond_those_whose_traces_are_shared():
    made = [sagax.jit(eval(f"lambda x: x + {i}.5")) for i in range(300)]
    assert made[0](1.0) == 1.5 and made[0]._caches.traced
    sagax.clear_caches()
    assert not made[0]._caches.traced and not made[0]._caches.calls
    assert made[0](1.0) == 1.5


def test_clear_caches_forgets_types_and_numbers():
    same = sagax.jit(lambda a, b: a + b)
    for _ in range(2):
        same(np.ones(3, np.float32), 2.5)
    assert call_operands._types and call_operands._numbers
    sagax.clear_caches()
    assert not call_operands._types and not call_operands._numbers
    assert same(np.ones(3, np.float32), 2.5).tolist() == [3.5, 3.5, 3.5]


def test_numpy_scalars_keep_type_sign_and_value():
    inverse = sagax.jit(lambda x: 1 / x)
    for x, expected in [(0.0, np.inf), (-0.0, -np.inf), (0.0, np.inf), (4.0, 0.25), (4.0, 0.25)]:
        assert inverse(np.float32(x)) == expected
    same = sagax.jit(lambda x: x)
    for _ in range(3):
        for kind in (np.float32, np.int32, np.int8, np.bool_, np.float16, np.int64, np.float64):
            found = same(kind(1))
            assert found == 1
            wide = np.dtype(kind).itemsize == 8
            assert found.dtype == (np.dtype(f"{np.dtype(kind).kind}4") if wide else kind)
        assert np.isnan(same(np.float32("nan")))


def test_donated_numpy_scalars_are_not_shared():
    step = sagax.jit(lambda x: x + 1, donate_argnums=0)
    assert [int(step(np.int32(3))) for _ in range(4)] == [4] * 4
