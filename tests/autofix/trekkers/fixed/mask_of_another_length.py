import jax
import jax.numpy as jnp


def masked_scores(scores, lengths):
    mask = jnp.arange(scores.shape[1]) < lengths[:, None]
    return jnp.where(mask, scores, -1e9)


scores = jnp.arange(6.0).reshape(2, 3)
print(jax.nn.softmax(masked_scores(scores, jnp.array([1, 3]))).round(3).tolist())
