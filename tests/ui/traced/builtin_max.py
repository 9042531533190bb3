"""A builtin that compares, inside of a scan."""
import sagax
import sagax.numpy as jnp


def running_max(best, price):
    best = max(best, price)  #~ SX0102 Attempted boolean conversion
    return best, best


sagax.lax.scan(running_max, 0.0, jnp.array([1.0, 3.0, 2.0]))
