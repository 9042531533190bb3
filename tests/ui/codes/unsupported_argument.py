import sagax.numpy as jnp

x = jnp.ones(2)
jnp.add(x, x, out=x)  #~ SX0125 The 'out' argument to numpy.add is
