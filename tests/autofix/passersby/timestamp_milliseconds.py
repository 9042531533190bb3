# error: OverflowError
# expect: OverflowError | IntegerOverflowWarning
# line: 23
# depends: -
# fix: host_numpy
# fixed-file: fixed/timestamp_milliseconds.py
# result: [1.4, 0.0, 0.0, 1.0, 0.0] ; span 3375

"""Resample irregular sensor events into one-second buckets."""
import jax
import jax.numpy as jnp
import numpy as np

EVENTS = [
    (1700000000125, 0.5),
    (1700000000870, 0.7),
    (1700000001010, 0.2),
    (1700000003500, 1.0),
]


def load(events):
    stamps = jnp.array([t for t, _ in events])
    values = jnp.array([v for _, v in events])
    return stamps - stamps[0], values


@jax.jit
def bucket_sums(offsets, values):
    buckets = offsets // 1000
    return jax.ops.segment_sum(values, buckets, num_segments=5)


offsets, values = load(EVENTS)
sums = bucket_sums(offsets, values)
print([round(float(s), 3) for s in sums])
print("span", int(offsets[-1]))
