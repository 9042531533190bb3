import jax
import jax.numpy as jnp

features, hidden_size, steps = 3, 5, 10
k1, k2, k3 = jax.random.split(jax.random.key(7), 3)
params = {
    "wx": 0.3 * jax.random.normal(k1, (features, hidden_size)),
    "wh": 0.3 * jax.random.normal(k2, (hidden_size, hidden_size)),
    "b": jnp.zeros(hidden_size),
}
sequence = jax.random.normal(k3, (steps, features))


def encode(params, sequence):
    def cell(h, x):
        h = jnp.tanh(x @ params["wx"] + h @ params["wh"] + params["b"])
        return h, None

    h, _ = jax.lax.scan(cell, jnp.zeros(hidden_size), sequence)
    return h


def loss(params):
    return jnp.sum((encode(params, sequence) - 0.5) ** 2)


value, grads = jax.jit(jax.value_and_grad(loss))(params)
print(round(float(value), 3))
print(round(float(jnp.linalg.norm(grads["wh"])), 3))
