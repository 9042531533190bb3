# error: none
# expect: ImpureTraceWarning
# jax-differs: jax draws once
# line: 18
# depends: -
# fix: jax_random
# result: distinct 3

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.RandomState(7)


@jax.jit
def noisy(x):
    return x + rng.normal(size=x.shape)


x = jnp.zeros(4)
outputs = {tuple(noisy(x).tolist()) for _ in range(3)}
print("distinct", len(outputs))
