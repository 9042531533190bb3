import jax
import jax.numpy as jnp


@jax.jit
def group_sums(labels, values):
    groups, index = jnp.unique(labels, size=4, fill_value=-1, return_inverse=True)
    return groups, jax.ops.segment_sum(values, index, num_segments=4)


@jax.jit
def positives(x):
    (where,) = jnp.nonzero(x > 0, size=x.shape[0], fill_value=x.shape[0])
    count = (x > 0).sum()
    return where, count


groups, sums = group_sums(jnp.array([7, 3, 7, 5]), jnp.array([1.0, 2.0, 3.0, 4.0]))
print(groups.tolist(), sums.tolist())
where, count = positives(jnp.array([-1.0, 2.0, 0.0, 4.0]))
print(where[: int(count)].tolist())
