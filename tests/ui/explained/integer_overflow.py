import sagax
import sagax.numpy as jnp


@sagax.jit
def cells(sizes):
    return jnp.prod(sizes)  #~ SX0406 does not fit int32: the result wrapped around


print(cells(jnp.array([2048, 2048, 2048])))
