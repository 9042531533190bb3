# One correct fixed version of surrogate_of_growing_data.py
import jax
import jax.numpy as jnp

SIZE = 13


@jax.jit
def posterior_mean(xs, ys, count, at):
    weights = jnp.exp(-((xs - at) ** 2)) * (jnp.arange(SIZE) < count)
    return jnp.sum(weights * ys) / jnp.sum(weights)


xs, ys = jnp.zeros(SIZE), jnp.zeros(SIZE).at[0].set(1.0)
for i in range(12):
    at = 0.1 * i
    mean = posterior_mean(xs, ys, i + 1, at)
    xs = xs.at[i + 1].set(at)
    ys = ys.at[i + 1].set(mean + 0.1)
print(round(float(mean), 4))
