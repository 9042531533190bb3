import jax
import jax.numpy as jnp


def conv(x, kernel):
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@jax.jit
def logits(params, images):
    x = pool(jax.nn.relu(conv(images, params["c1"])))
    x = pool(jax.nn.relu(conv(x, params["c2"])))
    return x.reshape(x.shape[0], -1) @ params["out"]


k1, k2, k3, k4 = jax.random.split(jax.random.key(0), 4)
params = {
    "c1": 0.3 * jax.random.normal(k1, (3, 3, 1, 4)),
    "c2": 0.2 * jax.random.normal(k2, (3, 3, 4, 8)),
    "out": 0.1 * jax.random.normal(k3, (2 * 2 * 8, 3)),
}
images = jax.random.uniform(k4, (5, 8, 8, 1))
grads = jax.grad(lambda p: jnp.mean(logits(p, images) ** 2))(params)
print(logits(params, images).shape, grads["c1"].shape)
