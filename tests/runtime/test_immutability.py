"""Nothing changes the contents of an array: no NumPy array made from it, or that it was made from."""

from __future__ import annotations

import copy
import pickle
import weakref

import numpy as np
import pytest

import sagax
import sagax.numpy as snp

SIZES = (5, 20_000)  # kept on the host, and shared with the engine


def unpickled_out_of_band(x):
    """With protocol 5 the numbers come in memory that the reader owns, and may change."""
    buffers: list = []
    blob = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    memory = [bytearray(b.raw()) for b in buffers]
    found = pickle.loads(blob, buffers=memory)
    for b in memory:
        b[:] = bytes(len(b))
    return found


WAYS = {
    "made": lambda x: snp.asarray(x),
    "put": lambda x: sagax.device_put(x, sagax.devices()[0]),
    "copied": lambda x: snp.asarray(x).copy(),
    "copied deeply": lambda x: copy.deepcopy(snp.asarray(x)),
    "pickled": lambda x: pickle.loads(pickle.dumps(snp.asarray(x))),
    "pickled out of band": lambda x: unpickled_out_of_band(snp.asarray(x)),
    "computed": lambda x: snp.asarray(x) + 0,
    "compiled": lambda x: sagax.jit(lambda y: y + 0)(x),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", WAYS)
def test_no_numpy_array_of_it_can_be_written_to(way, size):
    numbers = np.arange(size, dtype=np.float32)
    x = WAYS[way](numbers)
    seen = np.asarray(x)
    assert not seen.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        seen.flags.writeable = True
    with pytest.raises(ValueError, match="read-only"):
        np.copyto(seen, 0)
    numbers[:] = -1
    assert np.array_equal(np.array(x), np.arange(size))


def test_a_copy_that_is_asked_for_can_be_written_to():
    x = snp.arange(3.0)
    mine = np.array(x)
    mine[:] = 7
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_a_copy_that_is_refused_is_not_made():
    x = snp.arange(3.0)
    assert np.asarray(x, copy=False).tolist() == [0.0, 1.0, 2.0]
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="avoid copy"):
        np.asarray(x, dtype=np.float64, copy=False)


def test_donating_leaves_what_numpy_has_seen():
    for size in SIZES:
        x = sagax.jit(lambda y: y + 1)(np.zeros(size, np.float32))
        seen = np.asarray(x)
        sagax.jit(lambda y: y * 5, donate_argnums=0)(x).block_until_ready()
        assert np.array_equal(seen, np.ones(size))


def test_bytes_are_those_of_the_memory():
    assert bytes(snp.arange(3, dtype=np.int16)) == np.arange(3, dtype=np.int16).tobytes()


def test_what_programs_hold_can_be_referred_to_weakly():
    for x in (
        snp.ones(2),
        sagax.sharding.PartitionSpec("a"),
        sagax.make_mesh((1,), ("a",)),
        sagax.jit(abs),
    ):
        assert weakref.ref(x)() is x
