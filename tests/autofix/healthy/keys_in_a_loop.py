import jax
import jax.numpy as jnp


def step(key, x):
    direction, size = jax.random.split(key)
    angle = 2.0 * jnp.pi * jax.random.uniform(direction)
    length = jax.random.exponential(size)
    return x + length * jnp.stack([jnp.cos(angle), jnp.sin(angle)])


step = jax.jit(step)
key = jax.random.key(9)
x = jnp.zeros(2)
for _ in range(20):
    key, subkey = jax.random.split(key)
    x = step(subkey, x)

for i in range(5):
    x = step(jax.random.fold_in(key, i), x)
print(x.shape, bool(jnp.all(jnp.isfinite(x))))
