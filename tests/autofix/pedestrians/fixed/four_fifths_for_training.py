import jax
import jax.numpy as jnp

rows = jnp.arange(10.0) ** 2
order = jax.random.permutation(jax.random.key(3), rows.shape[0])
cut = int(0.8 * rows.shape[0])
train = rows[order[:cut]]
held_out = rows[order[cut:]]
print(train.shape, held_out.shape, float(train.sum() + held_out.sum()))
