# One correct fixed version of builtin_max_of_arrays.py
import jax
import jax.numpy as jnp


def payoff(paths, strike):
    final = paths[:, -1]
    return jnp.maximum(final - strike, jnp.zeros_like(final))


def price(key, spot, strike, vol):
    shocks = jax.random.normal(key, (2000, 12)) * vol / jnp.sqrt(12.0)
    paths = spot * jnp.exp(jnp.cumsum(shocks - vol**2 / 24.0, axis=1))
    return payoff(paths, strike).mean()


value = price(jax.random.key(5), 100.0, 100.0, 0.2)
print(bool(6.5 < value < 9.5))
