import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    """Averages the gradients of four micro-batches before the update."""
    parts = x.reshape(4, -1, x.shape[1]), y.reshape(4, -1)

    def add(total, part):
        grads = jax.grad(loss)(params, *part)
        return jax.tree.map(jnp.add, total, grads), None

    zeros = jax.tree.map(jnp.zeros_like, params)
    total, _ = jax.lax.scan(add, zeros, parts)
    return jax.tree.map(lambda p, g: p - 0.1 * g / 4.0, params, total)


x = jnp.sin(jnp.arange(32.0)).reshape(16, 2)
y = x @ jnp.array([1.0, -0.5]) + 0.3
params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
whole = jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))
parts = step(params, x, y)
print(bool(jnp.allclose(whole["w"], parts["w"], atol=1e-6)))
