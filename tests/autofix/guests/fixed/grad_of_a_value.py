# One correct fixed version of grad_of_a_value.py
import jax
import jax.numpy as jnp


def potential(r, epsilon, sigma):
    ratio = (sigma / r) ** 6
    return 4.0 * epsilon * (ratio**2 - ratio)


def force(r, epsilon=1.0, sigma=1.0):
    return -jax.grad(potential)(r, epsilon, sigma)


def equilibrium(r):
    for _ in range(200):
        r = r + 0.005 * force(r)
    return r


print(round(float(equilibrium(1.3)), 3))
