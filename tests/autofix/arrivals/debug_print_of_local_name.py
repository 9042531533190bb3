# error: KeyError
# expect: KeyError | ValueError | TypeError
# line: 15
# depends: -
# fix: format_field
# result: norm 5.0 ; [-0.6, -0.8]

import jax
import jax.numpy as jnp


@jax.jit
def update(w, g):
    norm = jnp.linalg.norm(g)
    jax.debug.print("norm {norm}")
    return w - g / norm


w = update(jnp.zeros(2), jnp.array([3.0, 4.0]))
jax.effects_barrier()
print([round(float(v), 3) for v in w])
