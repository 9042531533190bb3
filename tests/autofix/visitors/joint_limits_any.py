# error: TracerBoolConversionError
# line: 24
# depends: q
# fix: jnp_function
# fixed-file: fixed/joint_limits_any.py
# result: 0.003 ; 100.202
# family: concretization/builtin-any

import jax
import jax.numpy as jnp

LIMITS = jnp.array([2.9, 1.8, 2.9])
LENGTHS = jnp.array([0.4, 0.3, 0.2])


def tip(q):
    angles = jnp.cumsum(q)
    return jnp.array([LENGTHS @ jnp.cos(angles), LENGTHS @ jnp.sin(angles)])


@jax.jit
def cost(q, target):
    miss = jnp.sum((tip(q) - target) ** 2)
    violated = any(jnp.abs(angle) > limit for angle, limit in zip(q, LIMITS))
    return miss + 100.0 * violated


target = jnp.array([0.5, 0.5])
print(round(float(cost(jnp.array([0.1, 0.9, 0.6]), target)), 4))
print(round(float(cost(jnp.array([0.1, 2.0, 0.6]), target)), 4))
