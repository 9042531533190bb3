# error: TypeError
# line: 16
# also-line: 17
# depends: -
# fix: any
# result: [[0.64000004529953, 0.7270000576972961], [0.320000022649765, 0.3630000054836273]]

import jax
import jax.numpy as jnp


def layer(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)


f = jax.checkpoint(layer, policy="dots_saveable")
print(jax.grad(f)(jnp.eye(2), jnp.array([[1.0, 0.5]])).round(3).tolist())
