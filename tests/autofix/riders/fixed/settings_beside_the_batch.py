import jax
import jax.numpy as jnp

SETTINGS = {"activation": "relu", "gain": 2.0}


@jax.jit
def layer(x, weights):
    y = SETTINGS["gain"] * (x @ weights)
    if SETTINGS["activation"] == "relu":
        return jax.nn.relu(y)
    return jnp.tanh(y)


batch = jnp.array([[1.0, -2.0], [0.5, 0.5]])
weights = jnp.array([[1.0, 0.0, -1.0], [0.5, 1.0, 2.0]])
print(layer(batch, weights).tolist())
