import jax
import jax.numpy as jnp

X = jnp.array([[0, 1], [1, 0]], dtype=jnp.complex64)
Z = jnp.array([[1, 0], [0, -1]], dtype=jnp.complex64)
I2 = jnp.eye(2, dtype=jnp.complex64)
H = jnp.kron(Z, Z) + 0.5 * (jnp.kron(X, I2) + jnp.kron(I2, X))
CNOT = jnp.eye(4, dtype=jnp.complex64)[jnp.array([0, 1, 3, 2])]


def rx(theta):
    return jnp.cos(theta / 2) * I2 - 1j * jnp.sin(theta / 2) * X


def energy(thetas):
    psi = jnp.zeros(4, dtype=jnp.complex64).at[0].set(1.0)
    psi = jnp.kron(rx(thetas[0]), rx(thetas[1])) @ psi
    psi = CNOT @ psi
    return jnp.vdot(psi, H @ psi).real


thetas = jnp.array([0.3, 1.2])
for _ in range(20):
    thetas = thetas - 0.2 * jax.grad(energy)(thetas)
print(round(float(energy(thetas).real), 3))
print(thetas.round(2).tolist())
