import jax
import jax.numpy as jnp


def confusion(labels, predicted):
    n = labels.max() + 1
    one_hot = jax.nn.one_hot(labels, n)
    guesses = jax.nn.one_hot(predicted, n)
    return one_hot.T @ guesses


labels = jnp.array([0, 1, 2, 2])
predicted = jnp.array([0, 2, 2, 1])
print(confusion(labels, predicted).tolist())
