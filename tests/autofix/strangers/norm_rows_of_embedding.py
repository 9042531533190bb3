# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 18
# depends: table
# fix: double_where
# trap: sqrt(sum(x**2) + eps) without axis and keepdims divides by the norm of the whole table
# probe: abs(float(unit_rows(jnp.array([[3.0, 4.0], [0.0, 2.0]]))[0, 0]) - 0.6) < 1e-4
# fixed-file: fixed/norm_rows_of_embedding.py
# result: -1.772 10.2608
# family: 1/norm-keywords

import jax
import jax.numpy as jnp


def unit_rows(table):
    length = jnp.linalg.norm(table, axis=-1, keepdims=True)
    return table / jnp.maximum(length, 1e-6)


def alignment(table, pairs):
    unit = unit_rows(table)
    left, right = unit[pairs[:, 0]], unit[pairs[:, 1]]
    return -jnp.sum(left * right)


# row 0 is the padding token
table = jnp.array([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
pairs = jnp.array([[1, 2], [2, 3], [1, 3]])
grads = jax.jit(jax.grad(alignment))(table, pairs)
table = table - 0.1 * grads
print(round(float(alignment(table, pairs)), 4), round(float(table.sum()), 4))
