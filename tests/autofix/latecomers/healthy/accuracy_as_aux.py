# error: none
# expect: none
# result: accuracy 1.0 ; nll True

import jax
import jax.numpy as jnp


def loss_fn(params, x, labels):
    logits = x @ params["w"] + params["b"]
    nll = -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(labels.size), labels])
    accuracy = jnp.mean(jnp.argmax(logits, axis=-1) == labels)
    return nll, {"accuracy": accuracy, "confidence": jax.nn.softmax(logits).max(axis=-1).mean()}


@jax.jit
def step(params, x, labels):
    (nll, metrics), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, labels)
    return jax.tree.map(lambda p, g: p - g, params, grads), nll, metrics


labels = jnp.arange(24) % 4
angle = labels * jnp.pi / 2 + 0.2 * jnp.sin(jnp.arange(24.0))
x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
params = {"w": jnp.zeros((2, 4)), "b": jnp.zeros(4)}
for _ in range(60):
    params, nll, metrics = step(params, x, labels)
print("accuracy", round(float(metrics["accuracy"]), 3))
print("nll", bool(nll < 0.3))
