# error: TypeError
# line: 21
# depends: -
# fix: parentheses
# fixed-file: fixed/outlier_mask_precedence.py
# result: mean 10.008 used 6

import jax
import jax.numpy as jnp


def robust_stats(x):
    med = jnp.median(x)
    mad = jnp.median(jnp.abs(x - med))
    return med, 1.4826 * mad


def inliers(x, k=3.0):
    med, scale = robust_stats(x)
    z = (x - med) / scale
    return z > -k & z < k


def clipped_mean(x):
    keep = inliers(x)
    return jnp.sum(jnp.where(keep, x, 0.0)) / keep.sum(), keep.sum()


readings = jnp.array([9.8, 10.1, 10.0, 9.9, 55.0, 10.2, -30.0, 10.05])
mean, used = clipped_mean(readings)
print("mean", round(float(mean), 3), "used", int(used))
