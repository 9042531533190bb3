# error: ValueError
# expect: ValueError | TypeError
# line: 36
# also-line: 45
# depends: -
# fix: tree_structure
# fixed-file: fixed/optimiser_state_mismatch.py
# result: loss small True

"""Resume training from a saved momentum buffer."""
import jax
import jax.numpy as jnp

SAVED = {
    "dense": {"kernel": [[0.1, -0.2], [0.0, 0.3]]},
    "head": {"kernel": [[0.05], [-0.05]], "bias": [0.01]},
}


def load(tree):
    return jax.tree.map(jnp.asarray, tree, is_leaf=lambda n: isinstance(n, list))


def apply(params, x):
    h = jnp.tanh(x @ params["dense"]["kernel"] + params["dense"]["bias"])
    return (h @ params["head"]["kernel"] + params["head"]["bias"])[:, 0]


def loss(params, x, y):
    return jnp.mean((apply(params, x) - y) ** 2)


@jax.jit
def momentum_step(params, velocity, x, y):
    grads = jax.grad(loss)(params, x, y)
    velocity = jax.tree.map(lambda g, v: 0.9 * v + g, grads, velocity)
    params = jax.tree.map(lambda p, v: p - 0.05 * v, params, velocity)
    return params, velocity


params = {
    "dense": {"kernel": jnp.eye(2), "bias": jnp.zeros(2)},
    "head": {"kernel": jnp.ones((2, 1)), "bias": jnp.zeros(1)},
}
velocity = load(SAVED)
x = jnp.linspace(-1.0, 1.0, 12).reshape(6, 2)
for _ in range(100):
    params, velocity = momentum_step(params, velocity, x, jnp.sin(x.sum(axis=1)))
print("loss small", bool(loss(params, x, jnp.sin(x.sum(axis=1))) < 0.01))
