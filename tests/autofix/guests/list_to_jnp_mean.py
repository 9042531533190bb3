# error: TypeError
# line: 21
# depends: -
# fix: asarray
# fixed-file: fixed/list_to_jnp_mean.py
# result: 0.8333

import jax
import jax.numpy as jnp


@jax.jit
def accuracy(logits, labels):
    return jnp.mean(jnp.argmax(logits, axis=-1) == labels)


def evaluate(batches):
    scores = []
    for logits, labels in batches:
        scores.append(accuracy(logits, labels))
    return jnp.mean(scores)


logits = jnp.array([[2.0, 1.0], [0.1, 0.3], [1.0, 1.5]])
batches = [(logits, jnp.array([0, 1, 0])), (logits[::-1], jnp.array([1, 1, 0]))]
print(round(float(evaluate(batches)), 4))
