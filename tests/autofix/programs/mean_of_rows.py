# error: TypeError
# expect: TypeError | TypeError | ValueError
# line: 13
# depends: -
# fix: reshape
# result: [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]
# grade: ran
import jax
import jax.numpy as jnp

@jax.jit
def centre(x):
    return x - x.mean(axis=1)

print([round(float(v), 4) for v in centre(jnp.arange(6.0).reshape(2, 3)).ravel()])
