import jax
import jax.numpy as jnp


@jax.jit
def class_means(features, labels):
    member = labels[:, None] == jnp.arange(3)[None, :]
    counts = member.sum(axis=0)
    totals = jnp.einsum("nc,nf->cf", member.astype(features.dtype), features)
    return totals / jnp.maximum(counts, 1)[:, None]


features = jnp.array([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]])
print(class_means(features, jnp.array([0, 0, 2])).tolist())
