# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax drops the updates that fall outside
# line: 25
# depends: ages
# fix: clip_index
# fixed-file: fixed/histogram_dropped_counts.py
# result: people 12 ; [0.083, 0.083, 0.083, 0.167, 0.083, 0.083, 0.083, 0.083, 0.0, 0.25]

import jax
import jax.numpy as jnp

BINS = 10
WIDTH = 10.0


def bin_of(ages):
    return (ages // WIDTH).astype(jnp.int32)


@jax.jit
def pyramid(ages, male):
    idx = bin_of(ages)
    counts = jnp.zeros((2, BINS), dtype=jnp.int32)
    return counts.at[male.astype(jnp.int32), idx].add(1)


def summary(counts):
    total = counts.sum()
    share = counts.sum(axis=0) / total
    return int(total), [round(float(s), 3) for s in share]


ages = jnp.array([3.0, 17.5, 24.0, 31.0, 38.5, 45.0, 52.0, 66.0, 71.0, 99.0, 101.5, 104.0])
male = jnp.arange(12) % 2 == 0
total, share = summary(pyramid(ages, male))
print("people", total)
print(share)
