# error: UnexpectedTracerError
# line: 17
# also-line: 23, 29
# depends: -
# fix: return_value
# fixed-file: fixed/leak_global_key_split.py
# result: 2 True

import jax
import jax.numpy as jnp

key = jax.random.key(0)


def next_key():
    global key
    key, sub = jax.random.split(key)
    return sub


@jax.jit
def augment(images):
    noise = jax.random.normal(next_key(), images.shape)
    return images + 0.1 * noise


images = jnp.zeros((4, 8, 8))
batches = [augment(images)]
batches.append(augment(images) + jax.random.uniform(next_key()))
print(len(batches), bool(jnp.any(batches[0] != batches[1])))
