# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles once for each length
# line: 26
# also-line: 17
# depends: tokens
# fix: pad_shape
# fixed-file: fixed/recompile_sentence_lengths.py
# result: [2.9922, 3.3871]

import jax
import jax.numpy as jnp

TABLE = jnp.arange(20.0).reshape(10, 2) / 10.0


@jax.jit
def sentence_vector(tokens):
    vectors = TABLE[tokens]
    return jnp.tanh(vectors).mean(axis=0)


corpus = [[1, 2], [3, 4, 5], [1], [2, 2, 2, 9], [7, 8, 9, 1, 2], [4, 4, 4, 4, 4, 4]]
total = jnp.zeros(2)
for sentence in corpus:
    total = total + sentence_vector(jnp.array(sentence))
print([round(float(v), 4) for v in total])
