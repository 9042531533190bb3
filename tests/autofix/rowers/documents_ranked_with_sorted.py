# error: TracerBoolConversionError
# line: 17
# depends: -
# fix: any
# result: [3.631, 3.131] ; [0, 1]

import jax
import jax.numpy as jnp

queries = jnp.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
documents = jnp.array([[0.9, 0.1, 0.4], [0.1, 0.8, 0.3], [0.5, 0.5, 0.5], [0.0, 0.2, 1.0]])
relevance = jnp.array([[3.0, 0.0, 1.0, 0.0], [0.0, 2.0, 1.0, 1.0]])


def dcg(query, gains):
    scores = documents @ query / jnp.linalg.norm(documents, axis=1)
    order = jnp.array(sorted(range(len(scores)), key=lambda i: -scores[i]))
    discount = 1.0 / jnp.log2(jnp.arange(len(scores)) + 2.0)
    return jnp.sum(gains[order] * discount), order[0]


values, first = jax.vmap(dcg)(queries, relevance)
print([round(float(v), 3) for v in values])
print(first.tolist())
