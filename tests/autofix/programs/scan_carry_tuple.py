# error: TypeError
# line: 14
# also-line: 17
# depends: -
# fix: match_dtype
# result: 2.5 3

import jax
import jax.numpy as jnp


def track(state, x):
    best, count = state
    return (jnp.maximum(best, x), count + 1), best


(best, count), _ = jax.lax.scan(track, (jnp.zeros((), jnp.int32), 0), jnp.array([0.5, 2.5, 1.0]))
print(float(best), int(count))
