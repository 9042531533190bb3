# One correct fixed version of nan_hunt_switched_on.py
import jax
import jax.numpy as jnp

jax.config.update("jax_debug_nans", True)


@jax.jit
def relative_entropy(p, q):
    safe = jnp.where(p > 0.0, p, 1.0)
    return jnp.sum(jnp.where(p > 0.0, p * jnp.log(safe / q), 0.0))


model = jnp.array([0.25, 0.25, 0.25, 0.25])
for counts in ([4.0, 3.0, 2.0, 1.0], [5.0, 5.0, 0.0, 0.0]):
    observed = jnp.array(counts) / 10.0
    print(round(float(relative_entropy(observed, model)), 4))
