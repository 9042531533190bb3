# error: TypeError
# line: 31
# also-line: 25, 35
# depends: -
# fix: any
# result: [154, 142, 135] 20.0

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Room(NamedTuple):
    temperature: jax.Array
    heater_on: jax.Array
    energy: jax.Array


LOW, HIGH, OUTSIDE = 19.0, 21.0, 5.0


def cool(room):
    t = room.temperature + 0.02 * (OUTSIDE - room.temperature)
    return Room(t, t < LOW, room.energy)


def heat(room):
    power = 1.5
    t = room.temperature + 0.02 * (OUTSIDE - room.temperature) + 0.5 * power
    return (t, t < HIGH, room.energy + power)


def minute(room, _):
    room = jax.lax.cond(room.heater_on, heat, cool, room)
    return room, room.temperature


@jax.jit
def simulate(start):
    return jax.lax.scan(minute, start, length=240)


rooms = Room(jnp.array([15.0, 20.0, 24.0]), jnp.array([True, False, False]), jnp.zeros(3))
last, trace = jax.vmap(simulate)(rooms)
print([round(e) for e in last.energy.tolist()], round(float(trace[:, 100:].mean()), 1))
