import jax
import jax.numpy as jnp


def minibatches(key, *arrays, size):
    order = jnp.arange(len(arrays[0]))
    order = jax.random.permutation(key, order)
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield tuple(a[chosen] for a in arrays)


x = jnp.arange(12.0).reshape(6, 2)
y = jnp.arange(6)
seen = []
for bx, by in minibatches(jax.random.PRNGKey(3), x, y, size=2):
    assert bx.shape == (2, 2)
    seen += by.tolist()
print(sorted(seen), seen != sorted(seen))
