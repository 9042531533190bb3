# One correct fixed version of torque_table_cell.py
import jax
import jax.numpy as jnp

DT = 0.25
TORQUES = jnp.array([0.0, 0.5, 1.0, 0.5, 0.0, -0.5, -1.0, -0.5])


def torque(t):
    """The torque that was planned for this time."""
    return TORQUES[(t / DT).astype(jnp.int32) % 8]


@jax.jit
def spin(t, omega):
    return omega + DT * (torque(t) - 0.1 * omega)


omega = 0.0
for k in range(8):
    omega = spin(k * DT, omega)
print(round(float(omega), 4))
