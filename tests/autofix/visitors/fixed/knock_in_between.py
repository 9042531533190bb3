# One correct fixed version of knock_in_between.py
import jax
import jax.numpy as jnp

LOWER, UPPER = 80.0, 120.0


def corridor_note(spot):
    """Pays 1 for each fixing inside the corridor."""
    inside = (LOWER < spot) & (spot < UPPER)
    return jnp.where(inside, 1.0, 0.0)


@jax.jit
def coupon(path):
    return jnp.mean(jax.vmap(corridor_note)(path))


path = jnp.array([100.0, 95.0, 79.0, 85.0, 119.0, 125.0, 121.0, 100.0])
print(round(float(coupon(path)), 4))
