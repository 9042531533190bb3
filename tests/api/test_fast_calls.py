"""The shortest ways of a call: what they find must be what the general way finds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.numpy._fused import fused

NAMES = [f"w{i}" for i in range(12)]


def numbers_of(names, start=0):
    return {name: snp.full(3, start + i, "float32") for i, name in enumerate(names)}


# ------------------------------------------------------------------------------------ dicts of arrays


def test_a_dict_of_arrays_goes_in_and_out_whatever_the_order_of_its_keys():
    traced = []

    @sagax.jit
    def moved(d, by):
        traced.append(list(d))
        return {name: x + by for name, x in d.items()}

    by = snp.float32(0.5)
    for names in (NAMES, NAMES[::-1], [*NAMES[6:], *NAMES[:6]], NAMES):
        for start in (0, 100):
            d = numbers_of(names, start)
            for _ in range(2):
                found = moved(d, by)
                assert found.keys() == d.keys()
                for name, x in found.items():
                    np.testing.assert_array_equal(x, np.asarray(d[name]) + 0.5)
    assert traced == [sorted(NAMES)]


def test_other_things_in_a_dict_that_was_known_take_the_general_way():
    f = sagax.jit(lambda d: sagax.tree.map(lambda x: x * 2, d))
    d = numbers_of(NAMES)
    for _ in range(3):
        f(d)
    plain = f({**d, "w3": 1.5, "w4": np.arange(3, dtype="float32")})
    assert float(plain["w3"]) == 3.0
    np.testing.assert_array_equal(plain["w4"], [0, 2, 4])
    nested = f({**d, "w5": {"a": d["w1"], "b": [d["w2"], None]}, "w6": None})
    np.testing.assert_array_equal(nested["w5"]["a"], [2, 2, 2])
    np.testing.assert_array_equal(nested["w5"]["b"][0], [4, 4, 4])
    assert nested["w5"]["b"][1] is None
    assert nested["w6"] is None
    with pytest.raises(TypeError, match=r"w7"):
        f({**d, "w7": "text"})
    np.testing.assert_array_equal(f(d)["w11"], [22, 22, 22])
    renamed = f({f"{name}_": x for name, x in d.items()})
    np.testing.assert_array_equal(renamed["w11_"], [22, 22, 22])
    fewer = f({name: d[name] for name in NAMES[:9]})
    assert sorted(fewer) == sorted(NAMES[:9])


def test_one_array_under_several_names_and_other_dtypes():
    f = sagax.jit(lambda d: {name: x + i for i, (name, x) in enumerate(sorted(d.items()))})
    x, same = snp.zeros(2), sorted(NAMES)
    for _ in range(3):
        found = f(dict.fromkeys(NAMES, x))
    assert [float(found[name][0]) for name in same] == list(range(12))
    found = f(dict.fromkeys(NAMES, snp.zeros(2, int)))
    assert {str(y.dtype) for y in found.values()} == {"int32"}


def test_a_deleted_array_in_a_dict_is_named():
    f = sagax.jit(lambda d: {name: x + 1 for name, x in d.items()})
    d = numbers_of(NAMES)
    f(d)
    f(d)
    d["w4"].delete()
    with pytest.raises(RuntimeError, match="has been deleted"):
        f(d)


def test_results_in_dicts_are_bound_where_an_operand_is():
    f = sagax.jit(lambda d: {name: x + 1 for name, x in d.items()})
    d = numbers_of(NAMES)
    free = f(d)
    free = f(d)
    bound = f({**d, "w2": sagax.device_put(d["w2"], sagax.devices()[0])})
    assert not free["w0"].committed
    assert bound["w0"].committed


def test_keys_that_are_equal_numbers_and_keys_without_an_order():
    f = sagax.jit(lambda d: sum(d.values()))
    for keys in (range(10), map(float, range(10)), [False, True, *range(2, 10)]):
        d = {k: snp.float32(float(k)) for k in keys}
        for _ in range(2):
            assert float(f(d)) == 45.0
    with pytest.raises(ValueError, match="sort|order|compar"):
        f({**{i: snp.ones(()) for i in range(8)}, "a": snp.ones(())})


def test_threads_call_with_dicts_of_different_orders():
    f = sagax.jit(lambda d: {name: x * 3 for name, x in d.items()})

    def many(k):
        names = NAMES[k:] + NAMES[:k]
        d = numbers_of(names, k)
        return all(
            float(x[0]) == 3 * float(d[name][0]) for _ in range(20) for name, x in f(d).items()
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(many, range(8)))


# ------------------------------------------------------------------------- take of small arrays at once

X = np.arange(12, dtype="float32").reshape(3, 4) - 5


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("indices", [[0, 2], [-1, -3], [[1], [0]], 2, -2, []], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_take_gives_what_numpy_gives_in_bounds(axis, indices, dtype):
    x = snp.array(X).astype(dtype)
    at = snp.array(indices, int)
    found = snp.take(x, at, axis)
    np.testing.assert_array_equal(found, np.asarray(x).take(np.asarray(at), axis))
    assert found.dtype == x.dtype
    compiled = sagax.jit(lambda x, at: snp.take(x, at, axis))(x, at)
    np.testing.assert_array_equal(found, compiled)


def test_take_out_of_bounds_stays_filled_however_often():
    x, outside, inside = snp.array([5.0, 6.0]), snp.array([0, 9]), snp.array([1, -2])
    for _ in range(20):
        np.testing.assert_array_equal(snp.take(x, outside), [5, np.nan])
        np.testing.assert_array_equal(snp.take(x, inside), [6, 5])
    np.testing.assert_array_equal(snp.take(x, outside, fill_value=7.0), [5, 7])
    np.testing.assert_array_equal(snp.take(x, outside, mode="clip"), [5, 6])
    np.testing.assert_array_equal(snp.take(x, outside, mode="wrap"), [5, 6])


def test_take_keeps_nans_and_the_result_stays_as_it_is():
    x = snp.array(np.array([np.nan, -0.0, np.inf], "float32"))
    found = snp.take(x, snp.array([1, 0]))
    assert np.signbit(np.asarray(found)[0])
    assert np.isnan(np.asarray(found)[1])
    assert not np.asarray(found).flags.writeable
    assert float(sagax.grad(lambda x: snp.take(x, snp.array([1, 1])).sum())(x)[1]) == 2.0


def test_take_out_of_bounds_is_refused_where_nan_is():
    x = snp.array([5.0, 6.0])
    np.testing.assert_array_equal(snp.take(x, snp.array([9])), [np.nan])
    with sagax.config.context(debug_nans=True):
        np.testing.assert_array_equal(snp.take(x, snp.array([1])), [6])
        with pytest.raises(FloatingPointError):
            snp.take(x, snp.array([9]))


# ------------------------------------------------------------------- numbers in place of arrays, at once


def test_linspace_of_numbers_that_are_equal_and_not_the_same():
    for _ in range(2):
        assert np.signbit(np.asarray(snp.linspace(0.0, -0.0, 3))[-1])
        assert not np.signbit(np.asarray(snp.linspace(-0.0, 0.0, 3))[-1])
        np.testing.assert_array_equal(snp.linspace(0, 1, 3), [0, 0.5, 1])
        np.testing.assert_array_equal(snp.linspace(False, True, 3), [0, 0.5, 1])
        assert np.isnan(np.asarray(snp.linspace(0, float("nan"), 3))).all()
        assert snp.linspace(0, 1j, 3).dtype == "complex64"
        assert snp.linspace(0, 1, 3, dtype=int).dtype == "int32"


def test_linspace_of_numbers_follows_the_settings():
    assert snp.linspace(0, 1, 3).dtype == "float32"
    with sagax.config.context(enable_x64=True):
        assert snp.linspace(0, 1, 3).dtype == "float64"
    assert snp.linspace(0, 1, 3).dtype == "float32"


def test_linspace_with_its_step():
    found, step = snp.linspace(1, 3, 5, retstep=True)
    np.testing.assert_array_equal(found, [1, 1.5, 2, 2.5, 3])
    assert float(step) == 0.5
    assert np.isnan(snp.linspace(1, 3, 1, retstep=True)[1])
    _, step = sagax.jit(lambda x: snp.linspace(x, 3, 5, endpoint=False, retstep=True))(1.0)
    np.testing.assert_allclose(step, 0.4, rtol=1e-6)


def test_a_result_made_from_numbers_can_be_deleted():
    first = snp.linspace(0, 1, 4)
    first.delete()
    np.testing.assert_allclose(snp.linspace(0, 1, 4), [0, 1 / 3, 2 / 3, 1], rtol=1e-6)


def test_complex_numbers_keep_the_sign_of_a_zero():
    @fused
    def imaginary_part(z):
        return snp.imag(z)

    for part in (0.0, -0.0, 0.0):
        assert np.signbit(np.asarray(imaginary_part(complex(1, part)))) == np.signbit(part)


def test_equal_static_arguments_of_other_meaning_have_programs_of_their_own():
    times = sagax.jit(lambda x, s: x * s[0], static_argnums=1)
    ones = snp.ones(1, dtype=int)
    for number in (1, 1.0, 0.0, -0.0, 0.0):
        found = np.asarray(times(ones, (number,)))
        wanted = np.ones(1, int) * number
        assert found.dtype.kind == wanted.dtype.kind
        assert found == wanted and np.signbit(found) == np.signbit(wanted)
    assert times._cache_size() == 4
    for number in (np.float32(0.0), np.float32(-0.0), np.float64(-0.0)):
        assert np.signbit(times(snp.ones(1), (number,)))[0] == np.signbit(number)
