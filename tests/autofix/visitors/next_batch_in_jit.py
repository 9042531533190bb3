# error: none
# expect: ImpureTraceWarning | SideEffectWarning
# jax-differs: jax silently trains on the first batch only
# line: 21
# depends: -
# fix: pass_argument
# fixed-file: fixed/next_batch_in_jit.py
# result: 1.2044
# family: silent/impure-iterator

import jax
import jax.numpy as jnp
import numpy as np

data = np.linspace(0.0, 2.0, 40, dtype=np.float32).reshape(10, 4)
batches = iter(data)


@jax.jit
def train_step(mean):
    batch = next(batches)
    return mean + 0.2 * jnp.mean(batch - mean)


mean = jnp.array(0.0)
for _ in range(10):
    mean = train_step(mean)
print(round(float(mean), 4))
