# One correct fixed version of entropy_of_pure_state.py
import jax
import jax.numpy as jnp


@jax.jit
def von_neumann(density):
    """Entropy of a two-level system."""
    p = jnp.clip(jnp.linalg.eigvalsh(density), 0.0, 1.0)
    return -jnp.sum(jnp.where(p > 0.0, p * jnp.log2(jnp.where(p > 0.0, p, 1.0)), 0.0))


mixed = jnp.diag(jnp.array([0.5, 0.5]))
pure = jnp.diag(jnp.array([1.0, 0.0]))
for weight in (1.0, 0.5, 0.0):
    print(round(abs(float(von_neumann(weight * mixed + (1.0 - weight) * pure))), 4))
