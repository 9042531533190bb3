# error: TypeError
# line: 15
# depends: -
# fix: any
# result: [0.8578000068664551, -0.7360000014305115] [-0.3958999812602997, 0.7351999878883362]

import jax
import jax.numpy as jnp


def leapfrog(state, force):
    place, speed = state
    speed = speed + 0.1 * (force - place)
    place = place + 0.1 * speed
    return (place, speed), place


@jax.jit
def course(start, forces):
    state = [start, jnp.zeros_like(start)]
    state, places = jax.lax.scan(leapfrog, state, forces)
    return places, state[1]


places, speed = course(jnp.array([1.0, -1.0]), jnp.ones((6, 2)) * 0.3)
print(places[-1].round(4).tolist(), speed.round(4).tolist())
