import jax
import jax.numpy as jnp


def fft(x):
    """Cooley and Tukey's recursion: its depth is known from the shape."""
    n = x.shape[0]
    if n == 1:
        return x
    even, odd = fft(x[::2]), fft(x[1::2])
    twist = jnp.exp(-2j * jnp.pi * jnp.arange(n // 2) / n) * odd
    return jnp.concatenate([even + twist, even - twist])


def tree_sum(tree):
    if isinstance(tree, dict):
        return sum(tree_sum(v) for v in tree.values())
    return tree.sum()


x = jnp.sin(jnp.arange(16.0))
print(bool(jnp.allclose(jax.jit(fft)(x), jnp.fft.fft(x), atol=1e-4)))
print(float(jax.jit(tree_sum)({"a": jnp.ones(3), "b": {"c": jnp.ones((2, 2))}})))
