# error: none
# expect: none
# result: (3,) True

import zlib

import jax
import jax.numpy as jnp

root = jax.random.key(11)


def stream(name, step):
    return jax.random.fold_in(jax.random.fold_in(root, zlib.crc32(name.encode())), step)


@jax.jit
def step(weights, batch, noise_key, mask_key):
    kept = jax.random.bernoulli(mask_key, 0.8, batch.shape)
    noise = 0.01 * jax.random.normal(noise_key, weights.shape)
    slope = jax.grad(lambda w: jnp.mean((jnp.where(kept, batch, 0.0) @ w - 1.0) ** 2))(weights)
    return weights - 0.1 * slope + noise


weights = jnp.zeros(3)
for number in range(8):
    batch = jax.random.normal(stream("data", number), (4, 3)) + 1.0
    weights = step(weights, batch, stream("noise", number), stream("mask", number))
print(weights.shape, bool(jnp.all(jnp.isfinite(weights))))
