# error: TypeError
# line: 27
# also-line: 22
# depends: -
# fix: real_output
# fixed-file: fixed/grad_complex_energy.py
# result: -1.118

import jax
import jax.numpy as jnp

H = jnp.array([[1.0, 0.5j], [-0.5j, -1.0]])


def state(angles):
    theta, phi = angles
    return jnp.array([jnp.cos(theta / 2), jnp.exp(1j * phi) * jnp.sin(theta / 2)])


def energy(angles):
    psi = state(angles)
    return jnp.vdot(psi, H @ psi)


angles = jnp.array([0.3, 0.2])
for _ in range(100):
    angles = angles - 0.4 * jax.grad(energy)(angles)
print(round(float(energy(angles).real), 4))
