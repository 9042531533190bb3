"""The carry comes back with another dtype: the item of the return is at fault."""
import sagax
import sagax.numpy as jnp


def accumulate(carry, price):
    count, total = carry
    if True:
        return (count + 1.5, total + price), total  #~ SX0005 carry input and carry output


sagax.lax.scan(accumulate, (jnp.int32(0), jnp.float32(0)), jnp.ones(3))
