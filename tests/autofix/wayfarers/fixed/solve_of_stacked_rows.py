# One correct fixed version of solve_of_stacked_rows.py
import jax
import jax.numpy as jnp


@jax.jit
def equilibria(stiffness, loads):
    positions = jnp.linalg.solve(stiffness, loads[..., None])[..., 0]
    return positions, jnp.sum(positions * loads, axis=-1)


base = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
stiffness = base + jnp.arange(5.0)[:, None, None] * jnp.eye(3)
loads = jnp.arange(15.0).reshape(5, 3) / 10
positions, energies = equilibria(stiffness, loads)
print(positions.shape, round(float(energies.sum()), 4))
