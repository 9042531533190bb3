import jax
import jax.numpy as jnp
from jax import lax


def pooled(packed, batch_sizes):
    def body(t, state):
        offset, totals = state
        index = jnp.arange(packed.shape[0])
        inside = (index >= offset) & (index < offset + batch_sizes[t])
        rows = jnp.where(inside, packed, 0.0)
        return offset + batch_sizes[t], totals.at[t].set(rows.sum())

    steps = batch_sizes.shape[0]
    return lax.fori_loop(0, steps, body, (0, jnp.zeros(steps)))[1]


packed = jnp.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
batch_sizes = jnp.array([3, 2, 1])
print(jax.jit(pooled)(packed, batch_sizes).tolist())
