# One correct fixed version of norm_rows_of_embedding.py
import jax
import jax.numpy as jnp


def unit_rows(table):
    square = jnp.sum(table**2, axis=-1, keepdims=True)
    zero = square == 0.0
    length = jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))
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
