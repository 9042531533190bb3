"""Test operands of jitted calls that XLA reads in place: memory lent to a call, and the caller's own."""

import dataclasses
import threading

import numpy as np

import sagax
import sagax.numpy as snp
from sagax._src.runtime.array import aligned_empty, is_aligned


def test_results_of_small_arrays_stay_when_the_next_call_reuses_their_memory():
    same = sagax.jit(lambda x: x)
    both = sagax.jit(lambda x, y: {"sum": x + y, "first": [x]})
    x = np.zeros(5, np.float32)
    kept = []
    for i in range(30):
        x[:] = i
        kept.append((same(x), both(x, x)))
    for i, (one, two) in enumerate(kept):
        np.testing.assert_array_equal(one, np.full(5, i))
        np.testing.assert_array_equal(two["sum"], np.full(5, 2 * i))
        np.testing.assert_array_equal(two["first"][0], np.full(5, i))


def test_two_arrays_of_one_type_get_memory_of_their_own():
    subtract = sagax.jit(lambda x, y: x - y)
    x, y = np.full(3, 7, np.int32), np.full(3, 2, np.int32)
    for _ in range(5):
        np.testing.assert_array_equal(subtract(x, y), [5, 5, 5])


def test_a_large_aligned_array_may_change_after_the_call():
    x = aligned_empty((300_000,), np.dtype("float32"))
    assert is_aligned(x)
    sums = sagax.jit(lambda x: (x * 2, snp.cumsum(x)))
    kept = []
    for i in range(6):
        x[:] = i
        kept.append(sums(x))
        x[:] = -1
    for i, (doubled, total) in enumerate(kept):
        np.testing.assert_array_equal(doubled, np.full(300_000, 2 * i))
        np.testing.assert_allclose(total[-1], 300_000 * i)


def test_a_large_aligned_array_of_a_function_without_results():
    seen = []

    @sagax.jit
    def tell(x):
        sagax.debug.callback(lambda v: seen.append(float(v)), x[0])

    x = aligned_empty((300_000,), np.dtype("float32"))
    for i in range(4):
        x[:] = i
        tell(x)
        x[:] = -1
    sagax.effects_barrier()
    assert seen == [0, 1, 2, 3]


def test_a_large_aligned_array_that_a_reference_takes():
    """Nothing is returned, whose readiness would tell that the array was read."""
    size = 2_000_000
    x = aligned_empty((size,), np.dtype("float32"))
    ref = sagax.new_ref(snp.zeros(size))
    put = sagax.jit(lambda ref, x: ref.set(snp.sort(snp.sin(x) * 0 + x)))
    for i in range(8):
        x[:] = i
        put(ref, x)
        x[:] = -1
        np.testing.assert_array_equal(ref[...], np.full(size, i, np.float32))


def test_results_in_other_containers_give_memory_back():
    @sagax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Pair:
        first: object
        second: object

    pair = sagax.jit(lambda x: Pair(x + 1, {"double": x * 2}))
    x = np.zeros(4, np.float32)
    kept = []
    for i in range(30):
        x[:] = i
        kept.append(pair(x))
    for i, found in enumerate(kept):
        np.testing.assert_array_equal(found.first, np.full(4, i + 1))
        np.testing.assert_array_equal(found.second["double"], np.full(4, 2 * i))


def test_callbacks_keep_the_contents_that_they_were_given():
    kept = []

    @sagax.jit
    def keep(x):
        return sagax.pure_callback(lambda v: kept.append(v) or np.asarray(v), x, x)

    x = np.zeros(4, np.float32)
    for i in range(6):
        x[:] = i
        keep(x).block_until_ready()
    np.testing.assert_array_equal([np.asarray(v)[0] for v in kept], range(6))


def test_a_donated_numpy_array_stays_as_it_is():
    step = sagax.jit(lambda x: x + 1, donate_argnums=0)
    small, large = np.zeros(4, np.float32), aligned_empty((300_000,), np.dtype("float32"))
    large[:] = 0
    for _ in range(4):
        np.testing.assert_array_equal(step(small), np.ones(4))
        np.testing.assert_array_equal(step(large)[:2], np.ones(2))
    assert not small.any() and not large.any()


def test_threads_do_not_share_lent_memory():
    double = sagax.jit(lambda x: x * 2)
    double(np.zeros(64, np.float32))
    wrong = []

    def work(k):
        x = np.empty(64, np.float32)
        for i in range(300):
            x[:] = 1000 * k + i
            found = double(x)
            if not (np.asarray(found) == 2 * (1000 * k + i)).all():
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
