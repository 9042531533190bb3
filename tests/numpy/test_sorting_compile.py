"""Bisection of large arrays compiles in a time that grows slowly with their size."""

from __future__ import annotations

import numpy as np

import sagax
import sagax.numpy as snp


def test_bisection_in_a_program_is_compiled_once_for_each_round():
    """Without fences XLA wrote 2**20 copies of the first round into the last."""
    size = 1 << 20

    def count(a):
        return snp.searchsorted(a[:, 0], snp.arange(2000, dtype="int32"))

    a = np.stack([np.arange(size, dtype=np.int32) // 512] * 2, 1)
    lowered = sagax.jit(count).lower(a)
    np.testing.assert_array_equal(lowered.compile()(a), np.minimum(np.arange(2000) * 512, size))
