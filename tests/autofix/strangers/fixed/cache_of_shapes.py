# One correct fixed version of cache_of_shapes.py
import jax
import jax.numpy as jnp

stats = {"calls": 0, "samples": 0}


@jax.jit
def running_filter(state, block):
    def one(y, x):
        y = 0.9 * y + 0.1 * x
        return y, y

    state, out = jax.lax.scan(one, state, block)
    return state, out


state = jnp.array(0.0)
for i in range(4):
    state, out = running_filter(state, jnp.full(5, float(i)))
    stats["calls"] += 1
    stats["samples"] += out.shape[0]
print(stats["calls"], stats["samples"], round(float(state), 4))
