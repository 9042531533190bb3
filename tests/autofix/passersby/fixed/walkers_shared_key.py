# One correct fixed version of walkers_shared_key.py
import jax
import jax.numpy as jnp


def walk(key, start, n=100):
    steps = jax.random.choice(key, jnp.array([-1, 1]), (n,))
    return start + jnp.cumsum(steps)


def mean_square_displacement(paths, starts):
    return jnp.mean((paths - starts[:, None]) ** 2, axis=0)


def fit_exponent(msd):
    t = jnp.arange(1, msd.size + 1)
    slope = jnp.polyfit(jnp.log(t), jnp.log(jnp.maximum(msd, 1e-3)), 1)[0]
    return slope


starts = jnp.arange(200)
keys = jax.random.split(jax.random.key(2024), starts.size)
paths = jax.vmap(walk)(keys, starts)
msd = mean_square_displacement(paths, starts)
distinct = len({tuple(row) for row in (paths - starts[:, None]).tolist()})
print("distinct paths", distinct)
print("diffusive:", bool(jnp.abs(fit_exponent(msd) - 1.0) < 0.15))
