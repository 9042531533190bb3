# error: TracerIntegerConversionError
# line: 18
# depends: logits
# fix: callback
# fixed-file: fixed/int_batch_of_strings.py
# result: dog (0.75) ; bird (0.90)

import jax
import jax.numpy as jnp

NAMES = ("cat", "dog", "bird")


@jax.jit
def classify(logits):
    probabilities = jax.nn.softmax(logits)
    label = jnp.argmax(probabilities)
    return NAMES[label], probabilities.max()


def describe(logits):
    name, confidence = classify(logits)
    return f"{name} ({float(confidence):.2f})"


print(describe(jnp.array([0.1, 2.0, 0.3])))
print(describe(jnp.array([0.1, 0.2, 3.0])))
