"""What arrays know of their place, indices out of bounds, and what cannot be an array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src import config

NAMES = Path(__file__).resolve().parents[1] / "data" / "array_names.txt"


def test_the_class_has_what_libraries_look_for():
    names = NAMES.read_text(encoding="utf-8").split()
    assert [n for n in names if not hasattr(sagax.Array, n)] == []


def test_where_an_array_lies():
    x = snp.arange(6.0).reshape(2, 3)
    (shard,) = x.addressable_shards
    assert shard.device == x.device == sagax.devices()[0] and x.devices() == {x.device}
    assert shard.index == (slice(None), slice(None)) and shard.replica_id == 0
    assert np.array_equal(shard.data, x) and len(x.global_shards) == 1
    assert x.addressable_data(0) is x
    assert x.is_fully_addressable and x.is_fully_replicated and not x.committed
    x.copy_to_host_async()
    assert x[1, 2].item() == 5.0 and x.item(4) == 4.0


def test_what_a_traced_array_does_not_know():
    def f(x):
        for name in ("committed", "is_fully_addressable", "is_fully_replicated", "global_shards"):
            with pytest.raises(sagax.errors.ConcretizationTypeError, match=name):
                getattr(x, name)
        with pytest.raises(sagax.errors.ConcretizationTypeError, match="devices"):
            x.devices()
        assert not hasattr(x, "sharding") and not hasattr(x, "device")
        return x.trace()

    assert sagax.jit(f)(snp.eye(3)) == 3


# -- check_bounds -----------------------------------------------------------------------------------

X = snp.arange(12.0).reshape(3, 4)
OUTSIDE = {
    "element": lambda: X[3],
    "negative element": lambda: X[0, -5],
    "array": lambda: X[snp.array([0, 3])],
    "NumPy array": lambda: X[:, np.array([-5])],
    "set": lambda: X.at[3].set(0),
    "add": lambda: X.at[snp.array([7]), 0].add(1.0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_known_indices_out_of_bounds_are_refused_where_that_is_asked_for(name):
    OUTSIDE[name]()
    with config.context(check_bounds=True):
        with pytest.raises(
            IndexError, match=r"index -?\d is out of bounds for axis [01] of size [34]"
        ):
            OUTSIDE[name]()
    OUTSIDE[name]()


def test_what_stays_allowed_with_check_bounds():
    with config.context(check_bounds=True):
        assert X[2, -4] == 8 and X[1:9].shape == (2, 4) and X[snp.array([-3, 2])].shape == (2, 4)
        assert X.at[9].get(mode="clip")[0] == 8
        assert X.at[9].get(mode="fill", fill_value=-1)[0] == -1
        assert np.array_equal(X.at[9].set(1, mode="drop"), X)
        assert X[X > 10].shape == (1,)
        assert sagax.jit(lambda i: X[i, 0])(7) == 8  # a traced index is clamped


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: snp.sin([1.0]), TypeError, "asarray"),
        (lambda: snp.ones(2) + [1.0, 2.0], TypeError, "asarray"),
        (lambda: snp.add((1,), 2), TypeError, "asarray"),
        (lambda: snp.concatenate(snp.array(["a", "b"])), TypeError, "str"),
        (lambda: snp.asarray(np.array([object()])), TypeError, "object"),
        (
            lambda: snp.array([[1, 2], [3]]),
            (TypeError, ValueError),
            "(?i)shape|length|inhomogeneous",
        ),
        (lambda: snp.sum(np.ma.array([1, 2], mask=[True, False])), ValueError, "mask"),
        (lambda: snp.asarray(np.ma.array([1, 2], mask=[True, False])), ValueError, "mask"),
        (lambda: snp.ones(2) + np.ma.array([1, 2], mask=[True, False]), ValueError, "mask"),
        (lambda: format(snp.ones(2), ".2f"), TypeError, "format"),
    ],
)
def test_what_is_no_array_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_items_cannot_be_assigned():
    x = snp.ones(3)
    with pytest.raises(TypeError, match=r"x\.at\[0\]\.set\(5\.0\)|\.at\[index\]\.set"):
        x[0] = 5.0


@pytest.mark.parametrize(
    "call", [lambda: snp.zeros(2, "float64"), lambda: snp.ones(2).astype(np.int64)]
)
def test_asking_for_64_bits_warns_each_time_at_the_line_that_does(call):
    for _ in range(2):
        with pytest.warns(UserWarning, match="not available") as caught:
            call()
        assert caught[0].filename == __file__


def test_live_arrays_leave_out_what_is_not_made_yet():
    unmade = object.__new__(type(snp.ones(2)))
    x = snp.ones(3)
    found = sagax.live_arrays()
    assert any(y is x for y in found) and not any(y is unmade for y in found)
