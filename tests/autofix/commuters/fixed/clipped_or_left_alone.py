import jax
import jax.numpy as jnp


def shrink(counts, limit):
    total = counts.sum()
    return jax.lax.cond(
        total > limit,
        lambda c: c * (limit / total),
        lambda c: c.astype(jnp.float32),
        counts,
    )


tallies = jnp.array([[3, 4, 5], [30, 40, 50], [1, 0, 2]])
shrunk = jax.jit(jax.vmap(shrink, in_axes=(0, None)))(tallies, 60.0)
print(shrunk.round(2).tolist())
