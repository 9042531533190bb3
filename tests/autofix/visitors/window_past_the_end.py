# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently shifts the window back into the array
# line: 20
# depends: center
# fix: pad
# fixed-file: fixed/window_past_the_end.py
# result: [0.0, 0.0, 1.5, 0.0, 0.0]
# family: silent/out-of-bounds-dynamic-slice

import jax
import jax.numpy as jnp

trace = jnp.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0])


@jax.jit
def snippet(center):
    """Five samples around a spike."""
    return jax.lax.dynamic_slice(trace, (center - 2,), (5,))


spikes = jnp.array([2, 7])
print(jnp.mean(jax.vmap(snippet)(spikes), axis=0).tolist())
