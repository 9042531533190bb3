# error: TypeError
# expect: TypeError | ValueError
# line: 16
# also-line: 15
# depends: params, images
# fix: reshape
# result: [[-1.933000087738037, -1.0890001058578491], [-1.2020000219345093, -1.350000023841858], [-0.8200000524520874, -1.9780000448226929]]

import jax
import jax.numpy as jnp


def classify(params, images):
    hidden = jax.nn.relu(images - params["shift"])
    hidden = hidden.reshape(-1)
    return hidden @ params["kernel"]


images = jnp.sin(jnp.arange(3 * 4 * 4.0)).reshape(3, 4, 4)
params = {"shift": jnp.array(0.1), "kernel": jnp.cos(jnp.arange(32.0)).reshape(16, 2)}
print(jax.jit(classify)(params, images).round(3).tolist())
