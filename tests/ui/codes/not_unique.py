import sagax
import sagax.numpy as jnp

sagax.grad(lambda u: jnp.ones(3).at[jnp.array([0, 1])].multiply(u).sum())(2.0)  #~ SX0122 scatter_mul: scatter_mul gradients are only implemented
