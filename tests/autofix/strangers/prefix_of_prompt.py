# error: IndexError
# expect: IndexError | TracerIntegerConversionError | ConcretizationTypeError
# line: 19
# depends: length
# fix: mask
# fixed-file: fixed/prefix_of_prompt.py
# result: [-0.4386, -0.3333] ; [-0.0316, 0.0737]
# family: 3/slice-to-traced-length

import jax
import jax.numpy as jnp

TABLE = jnp.linspace(-1.0, 1.0, 20).reshape(10, 2)


@jax.jit
def sentence_vector(tokens, length):
    """The mean embedding of the first tokens, the rest is padding."""
    used = tokens[:length]
    return TABLE[used].mean(axis=0)


batch = [(jnp.array([3, 1, 4, 0, 0]), 3), (jnp.array([1, 5, 9, 2, 6]), 5)]
for tokens, length in batch:
    print([round(float(v), 4) for v in sentence_vector(tokens, length)])
