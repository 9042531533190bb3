# error: none
# expect: BroadcastWarning
# jax-differs: jax silently compares each prediction with all labels
# line: 17
# depends: -
# fix: match_shape
# fixed-file: fixed/broadcast_accuracy_column.py
# result: 0.75

import jax
import jax.numpy as jnp


@jax.jit
def accuracy(logits, labels):
    predicted = jnp.argmax(logits, axis=-1, keepdims=True)
    return jnp.mean(predicted == labels)


logits = jnp.array([[2.0, 0.1, 0.3], [0.2, 1.5, 0.1], [0.0, 0.4, 0.9], [1.0, 0.8, 0.1]])
labels = jnp.array([0, 1, 2, 1])
print(float(accuracy(logits, labels)))
