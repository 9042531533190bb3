# One correct fixed version of fidelity_of_equal_states.py
import jax
import jax.numpy as jnp


def distance(p, q):
    """Angle between two distributions on the sphere of their square roots."""
    overlap = jnp.sum(jnp.sqrt(p * q))
    return jnp.arccos(jnp.minimum(overlap, 1.0 - 1e-6))


def mismatch(logits, target):
    return distance(jax.nn.softmax(logits), target)


target = jnp.array([0.25, 0.25, 0.25, 0.25])
logits = jnp.array([1.0, 0.0, 0.0, 0.0])
for rate in (0.5, 0.5, 0.0):
    logits = logits - rate * jax.grad(mismatch)(logits, target)
slope = jax.grad(mismatch)(jnp.zeros(4), target)
print(bool(jnp.all(jnp.isfinite(slope))), round(float(mismatch(logits, target)), 2))
