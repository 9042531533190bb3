import sagax
import sagax.numpy as jnp

move = sagax.jit(lambda x, v: x + v, donate_argnums=0)
x = jnp.ones(3)
move(x, x)  #~ SX0205 <lambda>: one buffer is donated and
