import jax
import jax.numpy as jnp


def group_means(values, groups):
    total = jax.ops.segment_sum(values, groups)
    count = jax.ops.segment_sum(jnp.ones_like(values), groups)
    return total / count


print(group_means(jnp.array([1.0, 3.0, 5.0]), jnp.array([0, 0, 1])).tolist())
