# error: TracerBoolConversionError
# line: 16
# depends: joints
# fix: jnp_instead_of_np
# fixed-file: fixed/bool_any_builtin.py
# result: 2.8714 ; -10.6073

import jax
import jax.numpy as jnp

LOWER = jnp.array([-1.5, -2.0, -0.5])
UPPER = jnp.array([1.5, 2.0, 0.5])


def violates(joints):
    return any(joints < LOWER) or any(joints > UPPER)


@jax.jit
def penalty(joints):
    reach = jnp.sum(jnp.cos(jnp.cumsum(joints)))
    return reach - 10.0 * violates(joints)


for joints in (jnp.array([0.1, 0.2, 0.1]), jnp.array([0.1, 2.4, 0.0])):
    print(round(float(penalty(joints)), 4))
