# error: UnexpectedTracerError
# line: 16
# depends: w
# fix: return_value
# result: [0.6, 0.8] 10.0

import jax
import jax.numpy as jnp

last_norm = None


@jax.jit
def normalised(w):
    global last_norm
    last_norm = jnp.sqrt((w ** 2).sum())
    return w / last_norm


unit = normalised(jnp.array([3.0, 4.0]))
print([round(float(v), 4) for v in unit], float(last_norm * 2))
