# error: RuntimeError
# line: 18
# depends: state
# fix: no_donation
# result: [0.5, 0.5]

import jax
import jax.numpy as jnp


def push(state, force):
    return state + force


advance = jax.jit(push, donate_argnums=(0,))
state = jnp.array([1.0, 2.0])
after = advance(state, 0.5)
print([float(v) for v in after - state])
