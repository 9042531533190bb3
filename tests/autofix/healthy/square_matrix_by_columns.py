import jax
import jax.numpy as jnp


def normalise(v):
    return v / jnp.sqrt(jnp.sum(v**2))


# columns of a square matrix, on purpose: in_axes and out_axes are both 1
columns = jax.jit(jax.vmap(normalise, in_axes=1, out_axes=1))
rows = jax.jit(jax.vmap(normalise))

matrix = jnp.array([[3.0, 0.0, 1.0], [4.0, 2.0, 2.0], [0.0, 0.0, 2.0]])
by_columns, by_rows = columns(matrix), rows(matrix)
print([round(float(v), 4) for v in jnp.linalg.norm(by_columns, axis=0)])
print([round(float(v), 4) for v in jnp.linalg.norm(by_rows, axis=1)])
