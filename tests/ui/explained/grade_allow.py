"""An index that runs past the end: the edit says what happens there, and the fault stays."""

import sagax
import sagax.numpy as jnp


@sagax.jit
def following(x, i):
    return x[i + 1]  #~ SX0407 out of bounds


values = [float(following(jnp.arange(4.0), i)) for i in (1, 3)]
print(values)
