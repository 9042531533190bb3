# One correct fixed version of grad_complex_energy.py
import jax
import jax.numpy as jnp

H = jnp.array([[1.0, 0.5j], [-0.5j, -1.0]])


def state(angles):
    theta, phi = angles
    return jnp.array([jnp.cos(theta / 2), jnp.exp(1j * phi) * jnp.sin(theta / 2)])


def energy(angles):
    psi = state(angles)
    return jnp.vdot(psi, H @ psi).real


angles = jnp.array([0.3, 0.2])
for _ in range(100):
    angles = angles - 0.4 * jax.grad(energy)(angles)
print(round(float(energy(angles).real), 4))
