import jax
import jax.numpy as jnp

params = {"conv": {"w": jnp.zeros((3, 3)), "b": jnp.zeros(3)}, "out": jnp.ones((3, 2))}
lines = []
jax.tree_util.tree_map_with_path(
    lambda path, leaf: lines.append(f"{jax.tree_util.keystr(path)} {leaf.shape}"), params
)
for line in sorted(lines):
    print(line)
leaves, treedef = jax.tree.flatten(params)
print(jax.tree.unflatten(treedef, [2.0 * leaf for leaf in leaves])["out"].tolist()[0])
