import jax
import jax.numpy as jnp
import numpy as np


def sum_of_squares(n):
    k = jnp.arange(1, n + 1)
    return jnp.sum(k * k)


small = sum_of_squares(100)
with jax.enable_x64(True):
    large = sum_of_squares(10_000)
    assert large.dtype == jnp.int64
    text = str(int(large))

exact = sum(k * k for k in range(1, 10_001))
print(int(small), text, int(text) == exact, np.dtype(small.dtype).name)
