# error: ConcretizationTypeError
# line: 13
# depends: steps
# fix: any
# result: [1.0, 0.6070000529289246, 0.3680000305175781, 0.22300000488758087, 0.13500000536441803]

import jax
import jax.numpy as jnp


@jax.jit
def decay(rate, steps):
    times = jnp.linspace(0.0, 1.0, steps)
    return jnp.exp(-rate * times)


print(decay(2.0, 5).round(3).tolist())
