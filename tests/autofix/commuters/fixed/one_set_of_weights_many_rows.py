import jax
import jax.numpy as jnp


def predict(weights, row):
    hidden = jax.nn.relu(row @ weights["in"] + weights["shift"])
    return hidden @ weights["out"]


weights = {
    "in": jnp.arange(6.0).reshape(3, 2) / 6,
    "shift": jnp.array([0.1, -0.2]),
    "out": jnp.array([1.0, -2.0]),
}
rows = jnp.arange(15.0).reshape(5, 3) / 15
scores = jax.vmap(predict, in_axes=(None, 0))(weights, rows)
print(scores.round(4).tolist())
