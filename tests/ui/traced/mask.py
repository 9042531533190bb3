"""A mask that depends on two arguments."""
import sagax
import sagax.numpy as jnp


@sagax.jit
def mean_of_valid(values, lengths):
    mask = jnp.arange(4) < lengths.max()
    return values[mask].mean()  #~ SX0105 Array boolean indices must be concrete


mean_of_valid(jnp.arange(4.0), jnp.array([2, 3]))
