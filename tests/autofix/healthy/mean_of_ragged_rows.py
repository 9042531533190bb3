import jax
import jax.numpy as jnp


@jax.jit
def row_means(values, lengths):
    valid = jnp.arange(values.shape[1]) < lengths[:, None]
    totals = jnp.sum(jnp.where(valid, values, 0.0), axis=1)
    return jnp.where(lengths > 0, totals / jnp.maximum(lengths, 1), 0.0)


values = jnp.array([[1.0, 2.0, 3.0], [4.0, 99.0, 99.0], [99.0, 99.0, 99.0]])
lengths = jnp.array([3, 1, 0])
print(row_means(values, lengths).tolist())
print(jax.grad(lambda v: row_means(v, lengths).sum())(values).sum(axis=1).tolist())
