# error: none
# expect: none
# result: (4, 3) 4

import jax
import jax.numpy as jnp


class Keys:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def __call__(self):
        self.key, out = jax.random.split(self.key)
        return out


keys = Keys(0)


@jax.jit
def noise(key, x):
    a, b = jax.random.split(key)
    return x + jax.random.normal(a, x.shape) * jax.random.uniform(b, x.shape)


outputs = jnp.stack([noise(keys(), jnp.zeros(3)) for _ in range(4)])
print(outputs.shape, len({tuple(r) for r in outputs.tolist()}))
