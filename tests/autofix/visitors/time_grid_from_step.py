# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError
# line: 17
# depends: dt
# fix: static_argument
# fixed-file: fixed/time_grid_from_step.py
# result: 0.0388 ; 0.0442
# family: concretization/arange

import jax
import jax.numpy as jnp


@jax.jit
def decay(rate, dt):
    """Activity of a sample over ten days, by explicit Euler steps."""
    times = jnp.arange(0.0, 10.0, dt)

    def step(activity, _):
        return activity - dt * rate * activity, activity

    last, _ = jax.lax.scan(step, 1.0, times)
    return last


for dt in (0.5, 0.25):
    print(round(float(decay(0.3, dt)), 4))
