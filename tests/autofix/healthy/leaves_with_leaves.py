import jax
import jax.numpy as jnp


def dot(a, b):
    """Both sides are in the order of the leaves."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return sum(jnp.vdot(x, y) for x, y in pairs)


def describe(tree):
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): leaf.shape for path, leaf in flat}


params = {"z": jnp.array([1.0, 2.0]), "a": jnp.array([[3.0]]), "m": [jnp.array(4.0)]}
grads = jax.grad(lambda p: 0.5 * dot(p, p))(params)
print(float(dot(params, grads)), describe(params))
by_name = {name: params[name] for name in sorted(params)}
print(list(by_name), jax.tree.structure(by_name) == jax.tree.structure(params))
