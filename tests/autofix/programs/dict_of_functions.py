# error: TypeError
# line: 14
# depends: op
# fix: cond
# result: 0.7123

import jax
import jax.numpy as jnp

OPS = {0: jnp.sin, 1: jnp.cos, 2: lambda v: v ** 2}


def apply(op, v):
    return OPS[op](v)


@jax.jit
def interpret(program, v):
    return jax.lax.scan(lambda v, op: (apply(op, v), v), v, program)[0]


print(round(float(interpret(jnp.array([2, 0, 1]), 1.5)), 4))
