import jax
import jax.numpy as jnp

DEPTH = 8


def block(params, x):
    return x + 0.1 * jnp.tanh(x @ params)


@jax.jit
def network(params, x):
    """Eight layers of their own: a Python loop is right."""
    for i in range(DEPTH):
        x = block(params[f"layer_{i}"], x)
        if i % 4 == 3:
            x = x / jnp.sqrt(jnp.mean(x**2) + 1e-6)
    return x


params = {f"layer_{i}": jnp.eye(4) * (i + 1) / DEPTH for i in range(DEPTH)}
x = jnp.arange(8.0).reshape(2, 4)
out = network(params, x)
print(out.shape, round(float(jnp.mean(out**2)), 3))
grads = jax.grad(lambda p: network(p, x)[0, 0])(params)
print(len(grads), bool(jnp.any(grads["layer_0"] != 0)))
