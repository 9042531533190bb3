# One correct fixed version of tree_map_renamed_leaf.py
import jax
import jax.numpy as jnp


def ema_update(average, params, decay=0.9):
    return jax.tree.map(lambda a, p: decay * a + (1.0 - decay) * p, average, params)


params = {"dense": {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}}
average = jax.tree.map(jnp.zeros_like, params)
for _ in range(3):
    average = ema_update(average, params)
total = sum(float(leaf.sum()) for leaf in jax.tree.leaves(average))
print(round(total, 4))
