# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax silently orders the gradients by key, so the pairs are mixed up
# line: 23
# depends: -
# fix: tree_map
# fixed-file: fixed/dict_values_zip_grads.py
# result: 2.0 -1.0

import jax
import jax.numpy as jnp


def loss_fn(params, x, y):
    return jnp.mean((params["slope"] * x + params["intercept"] - y) ** 2)


x = jnp.array([0.0, 1.0, 2.0, 3.0])
y = 2.0 * x - 1.0
params = {"slope": jnp.array(0.0), "intercept": jnp.array(0.0)}
for _ in range(400):
    grads = jax.grad(loss_fn)(params, x, y)
    pairs = zip(params.values(), jax.tree.leaves(grads))
    params = dict(zip(("slope", "intercept"), [p - 0.05 * g for p, g in pairs]))
print(round(float(params["slope"]), 2), round(float(params["intercept"]), 2))
