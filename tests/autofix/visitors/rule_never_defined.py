# error: AttributeError
# expect: AttributeError | TypeError | NotImplementedError
# line: 35
# also-line: 15
# depends: -
# fix: define_rule
# fixed-file: fixed/rule_never_defined.py
# result: [0.0, -0.3117, -0.3959]
# family: custom_jvp/no-rule

import jax
import jax.numpy as jnp


@jax.custom_jvp
def sinc(x):
    """sin(x) / x, with its limit at zero."""
    safe = jnp.where(x == 0.0, 1.0, x)
    return jnp.where(x == 0.0, 1.0, jnp.sin(safe) / safe)


def sinc_jvp(primals, tangents):
    (x,), (v,) = primals, tangents
    safe = jnp.where(x == 0.0, 1.0, x)
    slope = jnp.where(x == 0.0, 0.0, (jnp.cos(safe) - jnp.sin(safe) / safe) / safe)
    return sinc(x), slope * v


@jax.jit
def intensity(x):
    return jnp.sum(sinc(x) ** 2)


x = jnp.array([0.0, 0.5, 2.0])
print([round(float(g), 4) for g in jax.grad(intensity)(x)])
