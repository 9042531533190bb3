# error: ValueError
# line: 26
# depends: params, batch
# fix: device_put
# result: [1.625, 0.5723]

"""A training step whose batches lie on another device than its parameters."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp


def loss(params, batch):
    return jnp.mean((batch["x"] @ params["layer"]["w"] - batch["y"]) ** 2)


step = jax.jit(jax.value_and_grad(loss))


def fit(params, batches):
    losses = []
    for batch in batches:
        value, grads = step(params, batch)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
        losses.append(value)
    return losses


cpu = jax.devices()
params = jax.device_put({"layer": {"w": jnp.array([1.0, -1.0])}}, cpu[1])
batches = [jax.device_put({"x": jnp.array([[1.0, 2.0], [0.5, 1.0]]), "y": jnp.array([0.0, 1.0])}, cpu[0])] * 2
print([round(float(v), 4) for v in fit(params, batches)])
