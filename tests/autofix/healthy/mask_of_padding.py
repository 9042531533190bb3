import jax
import jax.numpy as jnp


def masked_mean(values, lengths):
    used = jnp.arange(values.shape[1]) < lengths[:, None]
    total = jnp.where(used, values, 0.0).sum(axis=1)
    return total / jnp.maximum(lengths, 1)


@jax.jit
def attention(scores, values, lengths):
    used = jnp.arange(scores.shape[-1]) < lengths[:, None]
    weights = jax.nn.softmax(jnp.where(used, scores, -1e9), axis=-1)
    return (weights * values).sum(axis=-1)


values = jnp.array([[1.0, 2.0, 3.0, 9.0], [4.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]])
lengths = jnp.array([3, 1, 0])
print(masked_mean(values, lengths).tolist())
print([round(float(v), 3) for v in attention(jnp.zeros((2, 4)), values[:2], lengths[:2])])
