import jax
import jax.numpy as jnp


def estimate_pi(key, n):
    """One estimate from n points; a key for each lane."""
    x, y = jax.random.uniform(key, (2, n))
    return 4.0 * jnp.mean(x**2 + y**2 < 1.0)


estimate = jax.jit(jax.vmap(estimate_pi, in_axes=(0, None)), static_argnums=1)
keys = jax.random.split(jax.random.key(0), 64)
values = estimate(keys, 500)
close = jnp.abs(values.mean() - jnp.pi) < 0.05
print(values.shape, bool(close))
print(len(set(values.tolist())) > 10)
