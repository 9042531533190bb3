# error: none
# expect: RecompilationWarning
# jax-differs: ten compilations
# line: 21
# depends: -
# fix: any
# result: 8.25

import jax
import jax.numpy as jnp


@jax.jit
def step(batch):
    return jnp.sum(batch**2)


data = jnp.arange(60.0) / 10.0
total = 0.0
for n in range(1, 11):
    total += float(step(data[:n]))
print(round(total, 3))
