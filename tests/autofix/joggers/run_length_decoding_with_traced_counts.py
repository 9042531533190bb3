# error: ConcretizationTypeError
# line: 15
# depends: -
# fix: any
# result: [0, 0, 255, 255, 255, 0, 128, 128] 255 ; [7, 7, 9, 9, 9, 9, 1, 1] 8

import jax
import jax.numpy as jnp

WIDTH = 8


@jax.jit
def decode_row(values, counts):
    row = jnp.repeat(values, counts)
    edges = jnp.abs(jnp.diff(row))
    return row, edges


values = jnp.array([[0, 255, 0, 128], [7, 7, 9, 1]])
counts = jnp.array([[2, 3, 1, 2], [1, 1, 4, 2]])
for v, c in zip(values, counts):
    row, edges = decode_row(v, c)
    print(row.reshape(WIDTH).tolist(), int(edges.max()))
