# error: none
# expect: none
# result: symmetric True (20, 20) ; p below 0.05 True

import jax
import jax.numpy as jnp


def kernel(x, z, ell=0.7):
    gap = x[:, None] - z
    return jnp.exp(-0.5 * (gap / ell) ** 2)


def mmd(x, y):
    """Squared maximum mean discrepancy between two samples."""
    return kernel(x, x).mean() + kernel(y, y).mean() - 2.0 * kernel(x, y).mean()


@jax.jit
def permutation_scores(key, pooled, n):
    keys = jax.random.split(key, 64)

    def score(k):
        mixed = jax.random.permutation(k, pooled)
        return mmd(mixed[:20], mixed[20:])

    return jax.vmap(score)(keys)


x = jnp.sin(jnp.arange(20.0))
y = jnp.sin(jnp.arange(20.0) + 0.5) + 1.5
observed = mmd(x, y)
null = permutation_scores(jax.random.key(3), jnp.concatenate([x, y]), 20)
k = kernel(x, x)
print("symmetric", bool(jnp.allclose(k, k.T)), k.shape)
print("p below 0.05", bool(jnp.mean(null >= observed) < 0.05))
