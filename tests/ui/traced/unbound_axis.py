"""A collective operation without its axis."""
import sagax
import sagax.numpy as jnp


def centre(x):
    return x - sagax.lax.pmean(x, "batch")  #~ SX0121 unbound axis name


sagax.vmap(centre)(jnp.arange(3.0))
