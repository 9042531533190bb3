# One correct fixed version of accuracy_of_columns.py
import jax
import jax.numpy as jnp

weights = jnp.array([[1.0], [-1.0]])


@jax.jit
def predict(x):
    return jax.nn.sigmoid(x @ weights)


def accuracy(x, labels):
    predictions = predict(x)[:, 0] > 0.5
    return jnp.mean(predictions == labels)


x = jnp.array([[2.0, 1.0], [0.0, 1.0], [1.0, 3.0], [5.0, 1.0], [1.0, 0.0]])
labels = jnp.array([True, False, False, True, True])
print(round(float(accuracy(x, labels)), 4))
