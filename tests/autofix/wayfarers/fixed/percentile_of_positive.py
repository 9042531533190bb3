# One correct fixed version of percentile_of_positive.py
import jax
import jax.numpy as jnp


@jax.jit
def typical_wait(waits):
    served = jnp.where(waits > 0, waits, jnp.nan)
    return jnp.nanpercentile(served, 50)


waits = jnp.array([0.0, 3.0, 0.0, 5.0, 9.0, 0.0, 1.0])
print(float(typical_wait(waits)))
