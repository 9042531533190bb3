# error: TypeError
# expect: TypeError | ValueError
# line: 15
# depends: -
# fix: rank
# result: [1.0, 2.0, 3.0]

import jax
import jax.numpy as jnp


def record(values):
    def body(i, history):
        value = jnp.sqrt(values[i])
        return jax.lax.dynamic_update_slice(history, value, (i,))

    return jax.lax.fori_loop(0, len(values), body, jnp.zeros(len(values)))


print([round(float(v), 3) for v in record(jnp.array([1.0, 4.0, 9.0]))])
