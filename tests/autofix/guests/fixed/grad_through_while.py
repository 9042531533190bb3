# One correct fixed version of grad_through_while.py
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
    def step(state, _):
        new = jax.lax.cond(airborne(state), fall, lambda s: s, state)
        return new, None

    return jax.lax.scan(step, start, None, length=400)[0][0]


slope = jax.grad(flight_distance)(0.6, 0.1)
print(round(float(slope), 2))
