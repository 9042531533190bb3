import sagax
import sagax.numpy as jnp


@sagax.jit
def looked_up(table, rows):
    return table[rows]  #~ SX0407 index 4 is out of bounds for axis 0 with size 4


table = jnp.arange(8.0).reshape(4, 2)
print(looked_up(table, jnp.array([0, 4])))
