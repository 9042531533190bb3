# error: TypeError
# line: 17
# also-line: 14
# depends: -
# fix: return_value
# result: [-1.0, -1.0]

import jax
import jax.numpy as jnp


def objective(w, x):
    residual = x @ w - 1.0
    value = jnp.mean(residual**2)


g = jax.grad(objective)(jnp.zeros(2), jnp.eye(2))
print(g.tolist())
