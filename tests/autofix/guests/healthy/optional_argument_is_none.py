import jax
import jax.numpy as jnp


@jax.jit
def weighted_mean(values, weights=None, mask=None):
    if weights is None:
        weights = jnp.ones_like(values)
    if mask is not None:
        weights = jnp.where(mask, weights, 0.0)
    return jnp.sum(values * weights) / jnp.sum(weights)


values = jnp.array([1.0, 2.0, 6.0])
print(
    float(weighted_mean(values)),
    float(weighted_mean(values, jnp.array([1.0, 1.0, 0.0]))),
    float(weighted_mean(values, mask=jnp.array([False, True, True]))),
)
