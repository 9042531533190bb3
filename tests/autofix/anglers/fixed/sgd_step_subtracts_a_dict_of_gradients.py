import jax
import jax.numpy as jnp

key = jax.random.key(0)
inputs = jnp.linspace(-1.0, 1.0, 16).reshape(16, 1)
targets = 3.0 * inputs[:, 0] ** 2 - 1.0
params = {
    "hidden": jax.random.normal(key, (1, 8)),
    "bias": jnp.linspace(-1.0, 1.0, 8),
    "out": jnp.full((8,), 0.1),
}


def mse(params, inputs, targets):
    hidden = jnp.tanh(inputs @ params["hidden"] + params["bias"])
    return jnp.mean((hidden @ params["out"] - targets) ** 2)


@jax.jit
def update(params, learning_rate):
    loss, grads = jax.value_and_grad(mse)(params, inputs, targets)
    params = jax.tree.map(lambda p, g: p - learning_rate * g, params, grads)
    return params, loss


for epoch in range(3):
    params, loss = update(params, 0.1)
    print(epoch, round(float(loss), 3))
