# error: TypeError
# line: 30
# depends: -
# fix: pytree_register
# result: 0.1535 [0.5, 0.5052, 0.5256]

"""A dataclass with a text among its fields, carried through a scan."""
from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp


@dataclass
class Pendulum:
    angle: jax.Array
    speed: jax.Array
    name: str = "p"
    length: float = 1.0


def swing(state, torque):
    speed = state.speed - 0.1 * jnp.sin(state.angle) / state.length + torque
    return replace(state, angle=state.angle + 0.1 * speed, speed=speed), state.angle


@jax.jit
def simulate(torques):
    start = Pendulum(jnp.float32(0.5), jnp.float32(0.0))
    end, angles = jax.lax.scan(swing, start, torques)
    return end.speed, angles


speed, angles = simulate(jnp.array([0.1, 0.2, 0.0]))
print(round(float(speed), 4), [round(float(a), 4) for a in angles])
