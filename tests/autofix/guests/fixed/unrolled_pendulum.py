# One correct fixed version of unrolled_pendulum.py
import jax
import jax.numpy as jnp

DT, GRAVITY, LENGTH = 0.01, 9.81, 1.0


@jax.jit
def swing(angle, speed):
    peak = jnp.abs(angle)
    def step(_, state):
        angle, speed, peak = state
        speed = speed - DT * GRAVITY / LENGTH * jnp.sin(angle)
        angle = angle + DT * speed
        return angle, speed, jnp.maximum(peak, jnp.abs(angle))

    return jax.lax.fori_loop(0, 240, step, (angle, speed, peak))


angle, speed, peak = swing(0.5, 0.0)
print(round(float(angle), 3), round(float(speed), 3), round(float(peak), 3))
