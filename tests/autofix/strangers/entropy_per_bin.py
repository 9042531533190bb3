# error: TracerBoolConversionError
# line: 16
# depends: p
# fix: double_where
# trap: where(p == 0, 0, -p * log(p)) has the right value and a nan gradient at an empty bin
# probe: bool(jnp.all(jnp.isfinite(jax.grad(entropy)(jnp.array([0.0, 0.5, 0.5])))))
# fixed-file: fixed/entropy_per_bin.py
# result: 1.0397 [0.0866, 0.0866, -0.0866]
# family: 1/branch-with-singular-derivative

import jax
import jax.numpy as jnp


def surprise(p):
    if p == 0:
        return 0.0
    return -p * jnp.log(p)


def entropy(weights):
    probs = weights / weights.sum()
    return jax.vmap(surprise)(probs).sum()


weights = jnp.array([1.0, 1.0, 2.0])
value, grads = jax.value_and_grad(entropy)(weights)
print(round(float(value), 4), [round(float(g), 4) for g in grads])
