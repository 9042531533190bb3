# One correct fixed version of zero_item_in_penalty.py
import jax
import jax.numpy as jnp


def spring_energy(stretch):
    return 0.5 * 40.0 * stretch**2


def force(stretch):
    return -jax.grad(spring_energy)(stretch)


position, speed = jnp.array(0.1), 0.0
for _ in range(10):
    speed = speed + 0.01 * force(position)
    position = position + 0.01 * speed
print(round(float(position), 4), round(float(speed), 4))
