import jax
import jax.numpy as jnp


@jax.jit
def as_batch(x):
    if x.ndim == 1:
        x = x[None]
    if x.shape[-1] % 4 != 0:
        x = jnp.pad(x, ((0, 0), (0, 4 - x.shape[-1] % 4)))
    while x.shape[-1] > 4:
        x = x.reshape(x.shape[0], -1, 2).sum(axis=-1)
        if x.shape[-1] % 2:
            break
    assert x.ndim == 2
    return x


@jax.jit
def total(trees):
    if not trees:
        return jnp.zeros(())
    return sum(leaf.sum() for leaf in jax.tree.leaves(trees))


print(as_batch(jnp.arange(6.0)).tolist())
print(as_batch(jnp.ones((2, 16))).tolist())
print(float(total([])), float(total([jnp.ones(3), {"a": jnp.ones((2, 2))}])))
