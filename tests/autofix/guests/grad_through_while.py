# error: ValueError
# line: 23
# also-line: 26
# depends: -
# fix: fori_or_scan
# fixed-file: fixed/grad_through_while.py
# result: -22.38

import jax
import jax.numpy as jnp


def flight_distance(angle, drag):
    def airborne(state):
        return state[1] >= 0.0

    def fall(state):
        x, y, vx, vy = state
        vx, vy = vx - 0.01 * drag * vx, vy - 0.01 * (9.81 + drag * vy)
        return x + 0.01 * vx, y + 0.01 * vy, vx, vy

    start = (0.0, 0.0, 20.0 * jnp.cos(angle), 20.0 * jnp.sin(angle))
    return jax.lax.while_loop(airborne, fall, start)[0]


slope = jax.grad(flight_distance)(0.6, 0.1)
print(round(float(slope), 2))
