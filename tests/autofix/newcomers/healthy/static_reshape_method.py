import jax
import jax.numpy as jnp


class MultiHeadAttention:
    def __init__(self, key, dim, heads):
        self.heads = heads
        self.qkv = jax.random.normal(key, (dim, 3 * dim)) / dim**0.5

    def __call__(self, x):
        b, t, d = x.shape
        if d % self.heads:
            raise ValueError(f"{d} features in {self.heads} heads")
        q, k, v = jnp.split(x @ self.qkv, 3, axis=-1)
        split = lambda a: a.reshape(b, t, self.heads, d // self.heads).transpose(0, 2, 1, 3)
        scores = split(q) @ split(k).swapaxes(-1, -2) / (d // self.heads) ** 0.5
        out = jax.nn.softmax(scores, axis=-1) @ split(v)
        return out.transpose(0, 2, 1, 3).reshape(x.shape)


mha = MultiHeadAttention(jax.random.key(1), 8, heads=2)
print(jax.jit(mha)(jnp.ones((2, 5, 8))).shape)
