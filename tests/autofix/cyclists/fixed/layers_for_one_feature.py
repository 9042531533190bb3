import jax
import jax.numpy as jnp


def make_layers(sizes):
    return [
        jnp.cos(jnp.arange(m * n, dtype=float)).reshape(m, n) / m
        for m, n in zip(sizes[:-1], sizes[1:])
    ]


def predict(weights, inputs):
    for w in weights[:-1]:
        inputs = jnp.tanh(inputs @ w)
    return inputs @ weights[-1]


inputs = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
weights = make_layers([inputs.shape[1], 8, 1])
print(jax.jit(predict)(weights, inputs).ravel().round(4).tolist())
