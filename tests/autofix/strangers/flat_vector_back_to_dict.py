# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax's leaves are in the order of the sorted keys
# line: 20
# depends: -
# fix: tree_unflatten
# fixed-file: fixed/flat_vector_back_to_dict.py
# result: 1.0 -2.0
# family: 2/dict-order

import jax
import jax.numpy as jnp


def pack(tree):
    return jnp.stack(jax.tree.leaves(tree))


def unpack(vector, like):
    return {name: vector[i] for i, name in enumerate(like)}


def potential(p):
    return (p["x"] - 1.0) ** 2 + 4.0 * (p["a"] + 2.0) ** 2


point = {"x": jnp.array(0.0), "a": jnp.array(0.0)}
vector = pack(point)
for _ in range(100):
    grads = jax.grad(potential)(unpack(vector, point))
    vector = vector - 0.1 * pack(grads)
final = unpack(vector, point)
print(round(float(final["x"]), 3), round(float(final["a"]), 3))
