import jax
import jax.numpy as jnp


def ranks(scores):
    order = jnp.argsort(-scores)
    return jnp.zeros(scores.size, int).at[order].set(jnp.arange(scores.size))


groups = jnp.array([[0.3, 0.9, 0.1], [5.0, -2.0, 7.5]])
print(jax.vmap(ranks)(groups).tolist())
