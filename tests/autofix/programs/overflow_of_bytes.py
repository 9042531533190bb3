# error: none
# expect: IntegerOverflowWarning | OverflowError
# line: 16
# depends: now, before
# fix: wider_dtype
# result: [1, 0]
# grade: ran
"""Differences of frames of bytes, which have no sign."""
from functools import partial

import jax
import jax.numpy as jnp


def difference(now, before):
    return jnp.abs(now - before)


@partial(jax.jit, static_argnames=("threshold",))
def motion(video, threshold):
    frames = video["frames"]
    moved = jax.vmap(difference)(frames[1:], frames[:-1])
    return (moved > threshold).sum(axis=1)


video = {"frames": jnp.array([[10, 200], [60, 190], [50, 180]], jnp.uint8)}
print([int(v) for v in motion(video, threshold=20)])
