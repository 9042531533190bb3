# One correct fixed version of leak_global_key_split.py
import jax
import jax.numpy as jnp

key = jax.random.key(0)


def next_key():
    global key
    key, sub = jax.random.split(key)
    return sub


@jax.jit
def augment(images, noise_key):
    noise = jax.random.normal(noise_key, images.shape)
    return images + 0.1 * noise


images = jnp.zeros((4, 8, 8))
batches = [augment(images, next_key())]
batches.append(augment(images, next_key()) + jax.random.uniform(next_key()))
print(len(batches), bool(jnp.any(batches[0] != batches[1])))
