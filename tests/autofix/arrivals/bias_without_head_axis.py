# error: ValueError
# expect: TypeError | ValueError
# line: 15
# depends: -
# fix: reshape
# result: 8.1801

import jax
import jax.numpy as jnp


@jax.jit
def logits(q, k, bias):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    return jax.nn.softmax(scores + bias, axis=-1)


q = jnp.sin(jnp.arange(96.0)).reshape(2, 4, 3, 4)
k = jnp.cos(jnp.arange(96.0)).reshape(2, 4, 3, 4)
bias = jnp.arange(18.0).reshape(2, 3, 3) / 10
print(round(float(logits(q, k, bias)[..., 0].sum()), 4))
