import sagax
import sagax.numpy as jnp

sagax.jit(lambda x, n: x[:n].sum())(jnp.arange(4), 2)  #~ SX0126 the bounds of a slice must
