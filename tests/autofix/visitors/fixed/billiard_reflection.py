# One correct fixed version of billiard_reflection.py
import jax
import jax.numpy as jnp


@jax.jit
def move(position, velocity):
    """Balls in the unit box; a ball that would leave turns back."""
    position = position + 0.1 * velocity
    outside = (position < 0.0) | (position > 1.0)
    velocity = jnp.where(outside, -velocity, velocity)
    return jnp.clip(position, 0.0, 1.0), velocity


position = jnp.array([[0.2, 0.9], [0.5, 0.5], [0.95, 0.05]])
velocity = jnp.array([[1.0, 1.0], [-0.4, 0.2], [0.9, -0.8]])
energy = float(jnp.sum(velocity**2))
for _ in range(20):
    position, velocity = move(position, velocity)
print(abs(float(jnp.sum(velocity**2)) - energy) < 1e-4, round(float(position.sum()), 3))
