# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax's leaves are in the order of the sorted keys, values() in that of insertion
# line: 20
# depends: -
# fix: tree_map
# fixed-file: fixed/gradients_zipped_with_values.py
# result: 3.0 -1.0
# family: 2/dict-order

import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((params["slope"] * x + params["offset"] - y) ** 2)


def sgd(params, grads, rate):
    pairs = zip(params.values(), jax.tree.leaves(grads), strict=True)
    return dict(zip(params, [p - rate * g for p, g in pairs], strict=True))


x = jnp.array([0.0, 1.0, 2.0, 3.0])
y = 3.0 * x - 1.0
params = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
for _ in range(400):
    params = sgd(params, jax.grad(loss)(params, x, y), 0.05)
print(round(float(params["slope"]), 2), round(float(params["offset"]), 2))
