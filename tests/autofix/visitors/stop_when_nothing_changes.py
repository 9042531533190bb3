# error: ValueError
# expect: ValueError | TypeError
# line: 27
# depends: -
# fix: jnp_all
# fixed-file: fixed/stop_when_nothing_changes.py
# result: True [0.062, 0.125, 0.25, 0.5, 1.0, 2.0]
# family: concretization/truth-of-array

import jax
import jax.numpy as jnp

# rewards of moving left and right on a strip of six fields
REWARD = jnp.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@jax.jit
def improve(values):
    left = jnp.concatenate([values[:1], values[:-1]])
    right = jnp.concatenate([values[1:], values[-1:]])
    return REWARD + 0.5 * jnp.maximum(left, right)


values = jnp.zeros(6)
for sweep in range(100):
    new = improve(values)
    if jnp.abs(new - values) < 1e-6:
        break
    values = new
print(sweep < 99, [round(float(v), 3) for v in values])
