# One correct fixed version of unused_key_split.py
import jax
import jax.numpy as jnp


def shuffled_epoch(key, data):
    order = jax.random.permutation(key, data.shape[0])
    return data[order]


key = jax.random.key(11)
data = jnp.arange(20)
epochs = []
for _ in range(3):
    key, sub = jax.random.split(key)
    epochs.append(shuffled_epoch(sub, data))
different = [bool(jnp.any(epochs[0] != epoch)) for epoch in epochs[1:]]
print(different, int(epochs[0].sum()))
