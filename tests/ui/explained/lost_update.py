import sagax
import sagax.numpy as jnp


@sagax.jit
def histogram(samples, weights):
    bins = jnp.floor(samples).astype(int)
    counts = jnp.zeros(4)
    return counts.at[bins].set(counts[bins] + weights)  #~ SX0419 index 1 is set 3 times


print(histogram(jnp.array([0.5, 1.2, 1.7, 1.9]), jnp.ones(4)))
