# error: NotImplementedError
# line: 17
# also-line: 25
# depends: -
# fix: symmetric_solver
# fixed-file: fixed/eigenvector_gradient.py
# result: 0.5294 [0.1107, -0.0554, -0.1107]

import jax
import jax.numpy as jnp

springs = jnp.array([2.0, 1.0, 1.5])


def lowest_mode(k):
    stiffness = jnp.array([[k[0] + k[1], -k[1]], [-k[1], k[1] + k[2]]])
    values, vectors = jnp.linalg.eig(stiffness)
    return vectors[:, jnp.argmin(values.real)].real


def localization(k):
    return jnp.sum(lowest_mode(k) ** 4)


sensitivity = jax.grad(localization)(springs)
print(round(float(localization(springs)), 4), [round(float(s), 4) for s in sensitivity])
