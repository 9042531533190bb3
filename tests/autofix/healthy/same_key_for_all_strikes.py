import jax
import jax.numpy as jnp


@jax.jit
def price(key, strike):
    """A Monte Carlo estimate; the same key gives the same paths."""
    shocks = 0.1 * jax.random.normal(key, (1000, 4))
    final = jnp.exp(jnp.cumsum(shocks - 0.005, axis=1))[:, -1]
    return jnp.maximum(final - strike, 0.0).mean()


# all strikes on common paths, so that the price falls strictly with the strike
key = jax.random.key(0)
prices = jnp.stack([price(key, strike) for strike in (0.8, 0.9, 1.0, 1.1)])  # sagax: ignore[SX0108]
slope = jnp.diff(prices)
print(prices.shape, bool(jnp.all(slope < 0.0)))
