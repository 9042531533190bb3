import jax
import jax.numpy as jnp


def quantize(x, step):
    rounded = jnp.round(x / step) * step
    return x + jax.lax.stop_gradient(rounded - x)


def loss_fn(w, x, labels):
    logits = x @ quantize(w, 0.25)
    loss = -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(3), labels])
    accuracy = jnp.mean(jnp.argmax(logits, axis=-1) == labels)
    return loss, accuracy


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.5]])
labels = jnp.array([0, 1, 0])
w = jnp.zeros((2, 2))
for _ in range(10):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(w, x, labels)
    w = w - 0.5 * grads
print(float(accuracy), bool(jnp.any(grads != 0.0)))
