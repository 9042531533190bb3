# One correct fixed version of zero_argmax_loss.py
import jax
import jax.numpy as jnp


def error_rate(weights, x, labels):
    log_probability = jax.nn.log_softmax(x @ weights)
    return -jnp.mean(log_probability[jnp.arange(labels.shape[0]), labels])


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5]])
labels = jnp.array([1, 0, 0, 1])
weights = jnp.array([[0.2, 0.0], [0.0, 0.1]])
for _ in range(40):
    weights = weights - 0.5 * jax.grad(error_rate)(weights, x, labels)
accuracy = jnp.mean(jnp.argmax(x @ weights, axis=-1) == labels)
print(bool(accuracy >= 0.75))
