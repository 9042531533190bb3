# One correct fixed version of int_batch_of_strings.py
import jax
import jax.numpy as jnp

NAMES = ("cat", "dog", "bird")


@jax.jit
def classify(logits):
    probabilities = jax.nn.softmax(logits)
    label = jnp.argmax(probabilities)
    return label, probabilities.max()


def describe(logits):
    label, confidence = classify(logits)
    return f"{NAMES[int(label)]} ({float(confidence):.2f})"


print(describe(jnp.array([0.1, 2.0, 0.3])))
print(describe(jnp.array([0.1, 0.2, 3.0])))
