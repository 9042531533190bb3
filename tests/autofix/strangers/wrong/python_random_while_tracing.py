# One wrong fix of python_random_while_tracing.py: the number is drawn once, before the loop
import random

import jax
import jax.numpy as jnp

random.seed(5)


@jax.jit
def explore(values, noise):
    """Adds a little noise so that ties are broken at random."""
    return values + noise * jnp.arange(values.shape[0])


values = jnp.array([0.5, 0.5, 0.5])
noise = random.uniform(0.0, 1e-2)
draws = [float(explore(values, noise)[2]) for _ in range(4)]
print("different draws:", len(set(draws)))
