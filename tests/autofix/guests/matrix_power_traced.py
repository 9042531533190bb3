# error: ValueError
# expect: ValueError | TypeError | ConcretizationTypeError
# line: 15
# depends: length
# fix: static_args
# fixed-file: fixed/matrix_power_traced.py
# result: 2 18 8 ; 3 38 6

import jax
import jax.numpy as jnp


@jax.jit
def count_walks(adjacency, length):
    walks = jnp.linalg.matrix_power(adjacency, length)
    return walks.sum(), jnp.trace(walks)


graph = jnp.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
for length in (2, 3):
    total, closed = count_walks(graph, length)
    print(length, int(total), int(closed))
