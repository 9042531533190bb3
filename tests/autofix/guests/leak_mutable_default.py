# error: UnexpectedTracerError
# line: 16
# also-line: 17, 22
# depends: prediction, target
# fix: return_value
# fixed-file: fixed/leak_mutable_default.py
# result: 0.5 0.75

import jax
import jax.numpy as jnp


@jax.jit
def smoothed_error(prediction, target, seen=[]):
    error = jnp.mean(jnp.abs(prediction - target))
    seen.append(error)
    return sum(seen) / len(seen)


prediction = jnp.array([1.0, 2.0, 3.0])
first = smoothed_error(prediction, jnp.array([1.5, 2.0, 2.0]))
second = smoothed_error(prediction[:2], jnp.array([1.0, 4.0]))
print(round(float(first), 4), round(float(second), 4))
