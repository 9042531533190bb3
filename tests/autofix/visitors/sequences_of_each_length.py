# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles for each length
# line: 26
# depends: -
# fix: pad
# fixed-file: fixed/sequences_of_each_length.py
# result: [-0.1621, -0.4069, -0.2776]
# family: silent/recompilation-lengths

import jax
import jax.numpy as jnp
import numpy as np

sentences = [np.arange(1, n + 1) % 7 for n in (3, 5, 2, 8, 4, 6, 7, 9)]
embedding = jnp.sin(jnp.arange(21.0)).reshape(7, 3)


@jax.jit
def encode(tokens):
    return embedding[tokens].mean(axis=0)


total = jnp.zeros(3)
for tokens in sentences:
    total = total + encode(tokens)
print([round(float(v), 4) for v in total])
