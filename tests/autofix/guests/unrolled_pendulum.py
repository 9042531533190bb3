# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently compiles 240 copies of the body
# line: 19
# depends: -
# fix: fori_or_scan
# fixed-file: fixed/unrolled_pendulum.py
# result: 0.213 -1.389 0.5

import jax
import jax.numpy as jnp

DT, GRAVITY, LENGTH = 0.01, 9.81, 1.0


@jax.jit
def swing(angle, speed):
    peak = jnp.abs(angle)
    for _ in range(240):
        speed = speed - DT * GRAVITY / LENGTH * jnp.sin(angle)
        angle = angle + DT * speed
        peak = jnp.maximum(peak, jnp.abs(angle))
    return angle, speed, peak


angle, speed, peak = swing(0.5, 0.0)
print(round(float(angle), 3), round(float(speed), 3), round(float(peak), 3))
