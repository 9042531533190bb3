import jax
import jax.numpy as jnp


def sample(seed, n):
    return jax.random.normal(jax.random.key(seed), (n,))


draws = [sample(s, 2) for s in range(3)]
print([d.round(2).tolist() for d in draws])
