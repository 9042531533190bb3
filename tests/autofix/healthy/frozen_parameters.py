import jax
import jax.numpy as jnp


def loss(params, x):
    frozen = jax.lax.stop_gradient(params["encoder"])
    return jnp.mean((jnp.tanh(x @ frozen) @ params["head"] - 1.0) ** 2)


@jax.jit
def step(params, x):
    grads = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)


x = jnp.array([[0.5, 1.0], [1.0, -0.5], [0.2, 0.1]])
params = {"encoder": jnp.array([[1.0, 0.5], [-0.5, 1.0]]), "head": jnp.zeros(2)}
start = params["encoder"]
for _ in range(30):
    params = step(params, x)
print(bool(jnp.all(params["encoder"] == start)), bool(jnp.any(params["head"] != 0.0)))
