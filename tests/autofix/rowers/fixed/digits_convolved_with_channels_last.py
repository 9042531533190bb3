import jax
import jax.numpy as jnp

images = jnp.cos(jnp.arange(4 * 8 * 8 * 1.0)).reshape(4, 8, 8, 1)
labels = jnp.array([0, 2, 1, 2])
k1, k2 = jax.random.split(jax.random.key(1))
params = {
    "kernel": 0.2 * jax.random.normal(k1, (3, 3, 1, 5)),
    "out": 0.2 * jax.random.normal(k2, (5, 3)),
}


def logits_fn(params, images):
    h = jax.lax.conv_general_dilated(
        images, params["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    h = jax.nn.relu(h).mean(axis=(1, 2))
    return h @ params["out"]


@jax.jit
def loss_fn(params):
    logp = jax.nn.log_softmax(logits_fn(params, images))
    return -jnp.take_along_axis(logp, labels[:, None], axis=1).mean()


for _ in range(3):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)
    print(round(float(loss), 3))
