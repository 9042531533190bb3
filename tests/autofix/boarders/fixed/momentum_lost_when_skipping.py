import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def apply(params, momentum, grads):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 0.05 * m, params, momentum)
    return params, momentum


def skip(params, momentum, grads):
    return params, momentum


@jax.jit
def train_step(params, momentum, x, y):
    grads = jax.grad(loss)(params, x, y)
    finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
    return jax.lax.cond(finite, apply, skip, params, momentum, grads)


params = {"w": jnp.zeros(2), "b": jnp.array(0.0)}
momentum = jax.tree.map(jnp.zeros_like, params)
x = jnp.array([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]])
targets = [jnp.array([1.0, 2.0, 0.0]), jnp.array([jnp.inf, 2.0, 0.0]), jnp.array([1.0, 1.0, 0.5])]
for y in targets:
    params, momentum = train_step(params, momentum, x, y)
print(params["w"].round(4).tolist(), round(float(momentum["b"]), 4))
