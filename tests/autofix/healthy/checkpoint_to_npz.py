import io

import jax
import jax.numpy as jnp
import numpy as np


def save(file, tree):
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in flat})


def restore(file, like):
    flat, structure = jax.tree_util.tree_flatten_with_path(like)
    with np.load(file) as archive:
        leaves = [jnp.asarray(archive[jax.tree_util.keystr(path)]) for path, _ in flat]
    return jax.tree.unflatten(structure, leaves)


params = {"dense": {"w": jnp.arange(6.0).reshape(2, 3), "b": jnp.ones(3)}, "step": jnp.array(7)}
file = io.BytesIO()
save(file, params)
file.seek(0)
again = restore(file, jax.tree.map(jnp.zeros_like, params))
same = jax.tree.map(lambda a, b: bool(jnp.all(a == b)), params, again)
print(all(jax.tree.leaves(same)), int(again["step"]))
