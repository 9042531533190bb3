# error: none
# expect: none
# result: buckets [4, 8, 16] ; right True

"""Evaluate variable-length series with power-of-two buckets."""
import jax
import jax.numpy as jnp
import numpy as np


def bucket(n):
    size = 4
    while size < n:
        size *= 2
    return size


@jax.jit
def masked_stats(values, n):
    live = jnp.arange(values.shape[0]) < n
    mean = jnp.where(live, values, 0.0).sum() / n
    var = jnp.where(live, (values - mean) ** 2, 0.0).sum() / n
    return mean, jnp.sqrt(var)


series = [np.linspace(0, 1, n, dtype=np.float32) for n in (3, 4, 5, 7, 8, 9, 12, 16, 2, 6)]
used, ok = set(), True
for s in series:
    size = bucket(len(s))
    used.add(size)
    padded = np.zeros(size, dtype=np.float32)
    padded[:len(s)] = s
    mean, std = masked_stats(padded, len(s))
    ok &= bool(np.allclose([mean, std], [s.mean(), s.std()], atol=1e-5))
print("buckets", sorted(used))
print("right", ok)
