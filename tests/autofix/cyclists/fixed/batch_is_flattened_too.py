import jax
import jax.numpy as jnp


def classify(params, images):
    hidden = jax.nn.relu(images - params["shift"])
    hidden = hidden.reshape(hidden.shape[0], -1)
    return hidden @ params["kernel"]


images = jnp.sin(jnp.arange(3 * 4 * 4.0)).reshape(3, 4, 4)
params = {"shift": jnp.array(0.1), "kernel": jnp.cos(jnp.arange(32.0)).reshape(16, 2)}
print(jax.jit(classify)(params, images).round(3).tolist())
