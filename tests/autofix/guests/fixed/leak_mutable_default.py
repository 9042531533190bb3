# One correct fixed version of leak_mutable_default.py
import jax
import jax.numpy as jnp


@jax.jit
def absolute_error(prediction, target):
    return jnp.mean(jnp.abs(prediction - target))


def smoothed_error(prediction, target, seen=[]):
    seen.append(absolute_error(prediction, target))
    return sum(seen) / len(seen)


prediction = jnp.array([1.0, 2.0, 3.0])
first = smoothed_error(prediction, jnp.array([1.5, 2.0, 2.0]))
second = smoothed_error(prediction[:2], jnp.array([1.0, 4.0]))
print(round(float(first), 4), round(float(second), 4))
