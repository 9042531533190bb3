# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax unrolls the loop
# line: 16
# depends: -
# fix: scan
# result: 0.9449

import jax
import jax.numpy as jnp


@jax.jit
def last_hidden(w, xs):
    h = jnp.zeros(4)
    for t in range(150):
        h = jnp.tanh(w @ h + xs[t])
    return h


w = jnp.sin(jnp.arange(16.0)).reshape(4, 4) * 0.3
xs = jnp.cos(jnp.arange(600.0)).reshape(150, 4)
print(round(float(last_hidden(w, xs).sum()), 4))
