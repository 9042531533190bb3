# error: IndexError
# expect: IndexError | TracerIntegerConversionError | ConcretizationTypeError
# line: 14
# depends: length
# fix: where_mask_sum
# result: [[0.9330000281333923, 1.0329999923706055], [0.4000000059604645, 0.5], [1.4000000953674316, 1.5000001192092896]]

import jax
import jax.numpy as jnp


def encode(table, tokens, length):
    vectors = table[tokens]
    valid = vectors[:length]
    return valid.mean(axis=0)


table = jnp.arange(20.0).reshape(10, 2) / 10.0
batch = jnp.array([[1, 4, 9, 0, 0], [2, 2, 0, 0, 0], [5, 6, 7, 8, 9]])
lengths = jnp.array([3, 2, 5])
pooled = jax.vmap(encode, in_axes=(None, 0, 0))(table, batch, lengths)
print(pooled.round(3).tolist())
