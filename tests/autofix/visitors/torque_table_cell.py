# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError
# line: 19
# depends: t
# fix: astype
# fixed-file: fixed/torque_table_cell.py
# result: -0.047
# family: concretization/int

import jax
import jax.numpy as jnp

DT = 0.25
TORQUES = jnp.array([0.0, 0.5, 1.0, 0.5, 0.0, -0.5, -1.0, -0.5])


def torque(t):
    """The torque that was planned for this time."""
    return TORQUES[int(t / DT) % 8]


@jax.jit
def spin(t, omega):
    return omega + DT * (torque(t) - 0.1 * omega)


omega = 0.0
for k in range(8):
    omega = spin(k * DT, omega)
print(round(float(omega), 4))
