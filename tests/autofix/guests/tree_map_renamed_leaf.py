# error: ValueError
# line: 14
# also-line: 18
# depends: -
# fix: match_structure
# fixed-file: fixed/tree_map_renamed_leaf.py
# result: 1.626

import jax
import jax.numpy as jnp


def ema_update(average, params, decay=0.9):
    return jax.tree.map(lambda a, p: decay * a + (1.0 - decay) * p, average, params)


params = {"dense": {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}}
average = {"dense": {"kernel": jnp.zeros((2, 2)), "b": jnp.zeros(2)}}
for _ in range(3):
    average = ema_update(average, params)
total = sum(float(leaf.sum()) for leaf in jax.tree.leaves(average))
print(round(total, 4))
