# One correct fixed version of conc_one_hot_classes.py
import jax
import jax.numpy as jnp


def cross_entropy(logits, labels):
    num_classes = logits.shape[-1]
    targets = jax.nn.one_hot(labels, num_classes)
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1))


@jax.jit
def evaluate(weights, images, labels):
    logits = images @ weights
    return cross_entropy(logits, labels)


images = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
weights = jnp.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
labels = jnp.array([0, 1, 2])
print(round(float(evaluate(weights, images, labels)), 4))
