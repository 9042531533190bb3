# error: none
# expect: none
# result: [0.0, 4.5, 9.5] ; True

import jax
import jax.numpy as jnp


@jax.jit
def masked_mean(x, lengths):
    mask = jnp.arange(x.shape[1])[None, :] < lengths[:, None]
    total = jnp.where(mask, x, 0.0).sum(axis=1)
    return total / jnp.maximum(mask.sum(axis=1), 1)


def cross_entropy(logits, labels, mask):
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, labels[..., None], axis=-1)[..., 0]
    return -(picked * mask).sum() / mask.sum()


x = jnp.arange(12.0).reshape(3, 4)
print(masked_mean(x, jnp.array([0, 2, 4])).tolist())
logits = jnp.sin(jnp.arange(24.0)).reshape(2, 4, 3)
mask = jnp.array([[1, 1, 0, 0], [1, 1, 1, 1]], jnp.float32)
grads = jax.grad(cross_entropy)(logits, jnp.zeros((2, 4), jnp.int32), mask)
print(bool(jnp.all(grads[0, 2:] == 0)))
