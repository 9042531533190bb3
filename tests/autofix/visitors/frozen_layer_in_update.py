# error: ValueError
# expect: ValueError | KeyError
# line: 28
# depends: -
# fix: tree_structure
# fixed-file: fixed/frozen_layer_in_update.py
# result: 0.0097
# family: trees/tree-map-structure

import jax
import jax.numpy as jnp

params = {
    "encoder": {"w": jnp.array([[0.2, 0.4], [0.1, -0.3]])},
    "head": {"w": jnp.array([0.5, -0.5]), "b": jnp.array(0.0)},
}
x = jnp.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]])
y = jnp.array([0.5, -0.5, 0.2])


def loss(trainable, frozen):
    features = jnp.tanh(x @ frozen["w"])
    return jnp.mean((features @ trainable["w"] + trainable["b"] - y) ** 2)


for _ in range(50):
    slopes = {"head": jax.grad(loss)(params["head"], params["encoder"])}
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, slopes)
print(round(float(loss(params["head"], params["encoder"])), 4))
