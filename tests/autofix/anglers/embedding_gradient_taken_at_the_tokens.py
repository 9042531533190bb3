# error: TypeError
# line: 24
# depends: -
# fix: any
# result: 1.4136 ; 0.0039 ; 4.368

import jax
import jax.numpy as jnp

vocab, dim = 12, 4
table = jnp.sin(jnp.arange(vocab * dim, dtype=jnp.float32)).reshape(vocab, dim)
tokens = jnp.array([[1, 4, 7], [2, 2, 9], [11, 0, 3]])
ratings = jnp.array([0.2, -0.4, 0.9])


def loss_fn(tokens, table):
    vectors = table[tokens]
    scores = vectors.mean(axis=1).sum(axis=-1)
    return jnp.mean((scores - ratings) ** 2)


@jax.jit
def train_step(table):
    grads = jax.grad(loss_fn)(tokens, table)
    return table - 0.5 * grads


print(round(float(loss_fn(tokens, table)), 4))
for _ in range(5):
    table = train_step(table)
print(round(float(loss_fn(tokens, table)), 4))
print(round(float(jnp.sum(table)), 3))
