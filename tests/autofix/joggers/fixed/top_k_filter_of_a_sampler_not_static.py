import jax
import jax.numpy as jnp


@jax.jit(static_argnames="k")
def keep_best(logits, k):
    best, _ = jax.lax.top_k(logits, k)
    threshold = best[..., -1:]
    return jnp.where(logits >= threshold, logits, -jnp.inf)


def entropy(logits):
    p = jax.nn.softmax(logits)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0), axis=-1)


logits = jnp.array([[2.0, 1.0, 0.5, -1.0, 0.0], [0.1, 0.2, 3.0, 0.3, 1.5]])
for k in (2, 3):
    print(entropy(keep_best(logits, k)).round(3).tolist())
