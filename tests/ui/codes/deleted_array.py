import sagax
import sagax.numpy as jnp

x = jnp.arange(3)
x.delete()
x + 1  #~ SX0202 Array has been deleted with shape=int32[3].
