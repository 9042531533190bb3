# One correct fixed version of labels_as_dict_keys.py
import jax
import jax.numpy as jnp

logits = jnp.sin(jnp.arange(30.0)).reshape(10, 3)
labels = jnp.argmax(logits, axis=-1)
counts = {}
for label in labels.tolist():
    counts[label] = counts.get(label, 0) + 1
print(sorted(counts.items()))
