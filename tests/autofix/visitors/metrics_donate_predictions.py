# error: UserWarning
# expect: UserWarning | DonationWarning
# line: 24
# also-line: 21
# depends: -
# fix: drop_donation
# fixed-file: fixed/metrics_donate_predictions.py
# result: [[1, 0, 1], [0, 2, 0], [0, 1, 0]]
# family: donation/unusable

import jax
import jax.numpy as jnp


def evaluate(predictions, labels):
    """Confusion matrix of three classes."""
    predicted = jnp.argmax(predictions, axis=1)
    return jnp.zeros((3, 3), jnp.int32).at[labels, predicted].add(1)


evaluate = jax.jit(evaluate, donate_argnums=0)
labels = jnp.array([0, 1, 2, 1, 0])
logits = jax.nn.one_hot(jnp.array([0, 1, 1, 1, 2]), 3)
confusion = evaluate(logits, labels)
print(confusion.tolist())
