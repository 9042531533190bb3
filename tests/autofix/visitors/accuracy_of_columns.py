# error: none
# expect: BroadcastWarning
# jax-differs: jax silently compares each label with each prediction
# line: 25
# also-line: 24
# depends: -
# fix: squeeze_axis
# fixed-file: fixed/accuracy_of_columns.py
# result: 1.0
# family: silent/broadcast-comparison

import jax
import jax.numpy as jnp

weights = jnp.array([[1.0], [-1.0]])


@jax.jit
def predict(x):
    return jax.nn.sigmoid(x @ weights)


def accuracy(x, labels):
    predictions = predict(x) > 0.5
    return jnp.mean(predictions == labels)


x = jnp.array([[2.0, 1.0], [0.0, 1.0], [1.0, 3.0], [5.0, 1.0], [1.0, 0.0]])
labels = jnp.array([True, False, False, True, True])
print(round(float(accuracy(x, labels)), 4))
