import sagax
import sagax.numpy as jnp
from _library import host_only


@sagax.jit
def logged(x):
    y = jnp.sin(x)
    return host_only(y + x)  #~ SX0100 host_only: a traced value has no number yet


logged(1.0)
