import jax
import jax.numpy as jnp


def curve(x, rate):
    return jnp.exp(-rate * x) * jnp.cos(x)


slope = jax.jit(jax.vmap(jax.grad(curve), in_axes=(0, None)))
times = jnp.linspace(0.0, 2.0, 5)
values = curve(times, 0.3)
slopes = slope(times, 0.3)
print(values.round(3).tolist(), slopes.round(3).tolist())
