import jax
import jax.numpy as jnp


def cross_entropy(logits, labels):
    log_probabilities = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(log_probabilities, labels[:, None], axis=-1)
    return -picked.mean()


logits = jnp.array([[1.0, 2.0, 0.0], [0.0, 0.5, 3.0]])
labels = jnp.array([1, 2])
value, gradient = jax.value_and_grad(cross_entropy)(logits, labels)
print(round(float(value), 4), gradient.round(3).tolist())
