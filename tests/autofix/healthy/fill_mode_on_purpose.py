import jax
import jax.numpy as jnp


@jax.jit
def shifted(x, lag):
    """x[t - lag], and 0 before the start."""
    index = jnp.arange(x.shape[0]) - lag
    index = jnp.where(index < 0, x.shape[0], index)
    return x.at[index].get(mode="fill", fill_value=0.0)


@jax.jit
def edge_padded(x, lag):
    index = jnp.clip(jnp.arange(x.shape[0]) - lag, 0, x.shape[0] - 1)
    return x[index]


x = jnp.array([1.0, 2.0, 3.0, 4.0])
print(shifted(x, 1).tolist(), shifted(x, 3).tolist())
print(edge_padded(x, 2).tolist(), float(x[-1]))
