# error: UnexpectedTracerError
# line: 15
# depends: x
# fix: return_value
# result: 9.8811

import jax
import jax.numpy as jnp

seen = []


def feature(v):
    h = jnp.sin(v) * 2.0
    seen.append(h)
    return h + 1.0


@jax.jit
def model(x):
    y = feature(x)
    return (y ** 2).sum()


value = model(jnp.array([0.0, 1.0]))
print(round(float(value + seen[0].sum()), 4))
