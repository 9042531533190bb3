# One correct fixed version of bool_any_builtin.py
import jax
import jax.numpy as jnp

LOWER = jnp.array([-1.5, -2.0, -0.5])
UPPER = jnp.array([1.5, 2.0, 0.5])


def violates(joints):
    return jnp.any(joints < LOWER) | jnp.any(joints > UPPER)


@jax.jit
def penalty(joints):
    reach = jnp.sum(jnp.cos(jnp.cumsum(joints)))
    return reach - 10.0 * violates(joints)


for joints in (jnp.array([0.1, 0.2, 0.1]), jnp.array([0.1, 2.4, 0.0])):
    print(round(float(penalty(joints)), 4))
