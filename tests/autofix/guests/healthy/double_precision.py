import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


@jax.jit
def second_difference(x, h):
    return (jnp.sin(x + h) - 2.0 * jnp.sin(x) + jnp.sin(x - h)) / h**2


x = jnp.linspace(0.0, 1.0, 3, dtype=jnp.float64)
print([round(float(v), 4) for v in second_difference(x, 1e-4)])
print(int(jnp.prod(jnp.arange(1, 16))))
