# One correct fixed version of generator_of_numpy_in_loop.py
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
key = jax.random.key(0)


@jax.jit
def ornstein_uhlenbeck(x):
    def step(i, x):
        noise = jax.random.normal(jax.random.fold_in(key, i), x.shape)
        return x - 0.01 * x + 0.1 * noise

    return jax.lax.fori_loop(0, 1000, step, x)


x = ornstein_uhlenbeck(jnp.zeros(200))
# the variance of a stationary process is 0.01 / (1 - 0.99 ** 2) = 0.5
print(bool(0.2 < jnp.var(x) < 1.0))
