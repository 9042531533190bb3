# error: none
# expect: SideEffectWarning
# jax-differs: jax silently writes to the dict while tracing only
# line: 20
# also-line: 21
# depends: -
# fix: return_value
# fixed-file: fixed/cache_of_shapes.py
# result: 4 20 1.8549
# family: 2/side-effect-under-jit

import jax
import jax.numpy as jnp

stats = {"calls": 0, "samples": 0}


@jax.jit
def running_filter(state, block):
    stats["calls"] += 1
    stats["samples"] += block.shape[0]

    def one(y, x):
        y = 0.9 * y + 0.1 * x
        return y, y

    state, out = jax.lax.scan(one, state, block)
    return state, out


state = jnp.array(0.0)
for i in range(4):
    state, out = running_filter(state, jnp.full(5, float(i)))
print(stats["calls"], stats["samples"], round(float(state), 4))
