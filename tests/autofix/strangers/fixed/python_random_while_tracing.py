# One correct fixed version of python_random_while_tracing.py
import jax
import jax.numpy as jnp


@jax.jit
def explore(key, values):
    """Adds a little noise so that ties are broken at random."""
    noise = jax.random.uniform(key, maxval=1e-2)
    return values + noise * jnp.arange(values.shape[0])


values = jnp.array([0.5, 0.5, 0.5])
keys = jax.random.split(jax.random.key(5), 4)
draws = [float(explore(key, values)[2]) for key in keys]
print("different draws:", len(set(draws)))
