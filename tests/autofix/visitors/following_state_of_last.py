# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently clamps the index
# line: 22
# also-line: 24
# depends: -
# fix: index_range
# fixed-file: fixed/following_state_of_last.py
# result: [0.0, 0.0, 1.0]
# family: silent/out-of-bounds-gather

import jax
import jax.numpy as jnp

values = jnp.array([1.0, 2.0, 4.0, 8.0])
rewards = jnp.array([0.0, 0.0, 1.0])


@jax.jit
def advantages(values, rewards):
    def advantage(t):
        return rewards[t] + 0.5 * values[t + 1] - values[t]

    return jax.vmap(advantage)(jnp.arange(values.shape[0]))


print(advantages(values, rewards).tolist())
