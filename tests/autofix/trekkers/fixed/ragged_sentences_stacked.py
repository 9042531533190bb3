import jax
import jax.numpy as jnp

sentences = [[3, 1, 4], [1, 5], [9]]
table = jnp.arange(20.0).reshape(10, 2)


@jax.jit
def embed(tokens):
    return table[tokens].sum(-2)


batch = jnp.array([s + [0] * (3 - len(s)) for s in sentences])
print(embed(batch).shape)
