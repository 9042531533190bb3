import jax
import jax.numpy as jnp


def cross_entropy(w, x, labels):
    logits = x @ w
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    accuracy = jnp.mean(jnp.argmax(logits, axis=1) == labels)
    return -picked.mean(), accuracy


@jax.jit
def step(w, x, labels):
    (value, accuracy), grad = jax.value_and_grad(cross_entropy, has_aux=True)(w, x, labels)
    return w - 0.5 * grad, value, accuracy


x = jnp.array([[2.0, 0.1], [0.2, 1.5], [1.0, 0.3], [0.1, 0.9]])
labels = jnp.array([1, 0, 1, 0])
w = jnp.zeros((2, 2))
for _ in range(50):
    w, value, accuracy = step(w, x, labels)
print(float(accuracy), bool(value < 0.5))
