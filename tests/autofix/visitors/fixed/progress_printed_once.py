# One correct fixed version of progress_printed_once.py
import jax
import jax.numpy as jnp


def fall(height, speed):
    """Three seconds of a fall with drag; reports each second."""

    def second(state, _):
        jax.debug.print("one second")

        def step(_, state):
            height, speed = state
            speed = speed + 0.01 * (9.81 - 0.05 * speed**2)
            return height - 0.01 * speed, speed

        return jax.lax.fori_loop(0, 100, step, state), None

    return jax.lax.scan(second, (height, speed), None, length=3)[0]


height, speed = jax.jit(fall)(100.0, 0.0)
jax.effects_barrier()
print(round(float(height), 2), round(float(speed), 2))
