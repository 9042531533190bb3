import sagax.numpy as jnp


def histogram(values, n):
    counts = jnp.zeros(n)
    counts.at[values].add(1.0)  #~ SX0410 the result of `counts.at[values].add(1.0)` is thrown away
    return counts


print(histogram(jnp.array([0, 2, 2]), 3))
