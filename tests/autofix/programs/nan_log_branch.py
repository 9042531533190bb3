# error: NaNGradientWarning
# line: 15
# also-line: 16
# depends: p
# fix: double_where
# result: [-0.3069, 0.0, 0.3863]

import jax
import jax.numpy as jnp


@jax.jit
def slope(p):
    def entropy(p):
        logs = jnp.log(p)
        return -jnp.where(p > 0.0, p * logs, 0.0).sum()

    return jax.grad(entropy)(p)


print([round(float(v), 4) for v in slope(jnp.array([0.5, 0.0, 0.25]))])
