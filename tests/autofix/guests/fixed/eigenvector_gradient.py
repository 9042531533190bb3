# One correct fixed version of eigenvector_gradient.py
import jax
import jax.numpy as jnp

springs = jnp.array([2.0, 1.0, 1.5])


def lowest_mode(k):
    stiffness = jnp.array([[k[0] + k[1], -k[1]], [-k[1], k[1] + k[2]]])
    return jnp.linalg.eigh(stiffness)[1][:, 0]


def localization(k):
    return jnp.sum(lowest_mode(k) ** 4)


sensitivity = jax.grad(localization)(springs)
print(round(float(localization(springs)), 4), [round(float(s), 4) for s in sensitivity])
