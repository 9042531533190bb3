# error: TypeError
# line: 16
# depends: -
# fix: at_set
# result: 10.0

import jax.numpy as jnp


def row_echelon(a):
    a = jnp.asarray(a, dtype=float)
    rows = a.shape[0]
    for col in range(rows):
        pivot = col + int(jnp.argmax(jnp.abs(a[col:, col])))
        both = jnp.array([col, pivot])
        a[both] = a[both[::-1]]
        factors = a[col + 1 :, col] / a[col, col]
        a = a.at[col + 1 :].add(-factors[:, None] * a[col])
    return a


def determinant_magnitude(a):
    return abs(float(jnp.prod(jnp.diagonal(row_echelon(a)))))


print(round(determinant_magnitude([[0, 2, 1], [4, 1, -1], [2, 5, 3]]), 3))
