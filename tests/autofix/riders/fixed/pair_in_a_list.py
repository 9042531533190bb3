import jax
import jax.numpy as jnp


def leapfrog(state, force):
    place, speed = state
    speed = speed + 0.1 * (force - place)
    place = place + 0.1 * speed
    return (place, speed), place


@jax.jit
def course(start, forces):
    state = (start, jnp.zeros_like(start))
    state, places = jax.lax.scan(leapfrog, state, forces)
    return places, state[1]


places, speed = course(jnp.array([1.0, -1.0]), jnp.ones((6, 2)) * 0.3)
print(places[-1].round(4).tolist(), speed.round(4).tolist())
