# error: none
# expect: UnusedResultWarning | KeyReuseError
# jax-differs: jax silently draws the same numbers in each epoch
# line: 24
# also-line: 16
# depends: -
# fix: assign_result
# fixed-file: fixed/unused_key_split.py
# result: [True, True] 190

import jax
import jax.numpy as jnp


def shuffled_epoch(key, data):
    order = jax.random.permutation(key, data.shape[0])
    return data[order]


key = jax.random.key(11)
data = jnp.arange(20)
epochs = []
for _ in range(3):
    jax.random.split(key)
    epochs.append(shuffled_epoch(key, data))
different = [bool(jnp.any(epochs[0] != epoch)) for epoch in epochs[1:]]
print(different, int(epochs[0].sum()))
