# One correct fixed version of shuffled_and_dropped_alike.py
import jax
import jax.numpy as jnp


def augment(key, images):
    flips = jax.random.bernoulli(key, 0.5, (images.shape[0],))
    return jnp.where(flips[:, None], images[:, ::-1], images), flips


def choose(key, images):
    keep = jax.random.bernoulli(key, 0.5, (images.shape[0],))
    return jnp.where(keep[:, None], images, 0.0), keep


def prepare(key, images):
    key, key_choose = jax.random.split(key)
    images, flips = augment(key, images)
    images, keep = choose(key_choose, images)
    return images, flips, keep


images, flips, keep = prepare(jax.random.key(0), jnp.ones((200, 4)))
print(images.shape, bool(jnp.any(flips != keep)))
