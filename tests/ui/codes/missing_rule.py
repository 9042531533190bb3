import sagax
import sagax.numpy as jnp

_, f_jvp = sagax.linearize(jnp.sin, 1.0)
sagax.linear_transpose(lambda x: jnp.floor(x), 1.0)(1.0)  #~ SX0120 linear_transpose: the primitive 'floor' has no
