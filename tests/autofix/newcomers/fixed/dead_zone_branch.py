import jax
import jax.numpy as jnp


def dead_zone(error, width):
    return jax.lax.cond(
        jnp.abs(error) < width,
        lambda e: jnp.zeros_like(e),
        lambda e: e - jnp.sign(e) * width,
        error,
    )


def controller(kp, width):
    def control(state, reference):
        u = kp * dead_zone(reference - state, width)
        state = state + 0.1 * u
        return state, u

    return control


references = jnp.concatenate([jnp.ones(20), 0.95 * jnp.ones(10)])
state, us = jax.lax.scan(controller(4.0, 0.1), jnp.array(0.0), references)
print(round(float(state), 3), int((us == 0).sum()))
