import sagax
import sagax.numpy as jnp


@sagax.jit
def chosen(i, x):
    return sagax.lax.switch(i, [jnp.sin, jnp.cos], x)  #~ SX0407 index 2 is out of bounds for 2 branches


print(chosen(2, 0.0))
