# error: TypeError
# line: 14
# depends: -
# fix: int
# result: [(0, 5), (2, 5)]

import jax
import jax.numpy as jnp

logits = jnp.sin(jnp.arange(30.0)).reshape(10, 3)
labels = jnp.argmax(logits, axis=-1)
counts = {}
for label in labels:
    counts[label] = counts.get(label, 0) + 1
print(sorted(counts.items()))
