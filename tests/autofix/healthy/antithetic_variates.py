import jax
import jax.numpy as jnp


@jax.jit
def price(key, spot, strike, vol):
    """Each draw is used twice, with both signs."""
    z = jax.random.normal(key, (2000,))
    both = jnp.concatenate([z, -z])
    final = spot * jnp.exp(vol * both - 0.5 * vol**2)
    payoff = jnp.maximum(final - strike, 0.0)
    return payoff.mean()


delta = jax.jit(jax.grad(price, argnums=1))
keys = jax.random.split(jax.random.key(0), 3)
value = price(keys[0], 1.0, 1.0, 0.2)
print(round(float(value), 2), bool(jnp.abs(delta(keys[1], 1.0, 1.0, 0.2) - 0.54) < 0.05))
