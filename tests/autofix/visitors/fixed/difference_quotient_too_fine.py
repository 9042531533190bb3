# One correct fixed version of difference_quotient_too_fine.py
import jax
import jax.numpy as jnp


@jax.jit
def free_energy(temperature):
    levels = jnp.array([0.0, 1.0, 2.5])
    return -temperature * jax.nn.logsumexp(-levels / temperature)


def entropy(temperature):
    """Minus the derivative by the temperature."""
    return -jax.grad(free_energy)(temperature)


print([round(float(entropy(jnp.float32(t))), 3) for t in (0.5, 1.0, 2.0)])
