# One correct fixed version of removed_tree_map.py
import jax
import jax.numpy as jnp


def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree_util.tree_leaves(tree)))


def clip_by_global_norm(grads, limit):
    scale = jnp.minimum(1.0, limit / global_norm(grads))
    return jax.tree.map(lambda g: scale * g, grads)


grads = {"w": jnp.array([3.0, 4.0]), "b": jnp.array(12.0)}
clipped = clip_by_global_norm(grads, 1.0)
print(round(float(global_norm(clipped)), 4), round(float(clipped["b"]), 4))
