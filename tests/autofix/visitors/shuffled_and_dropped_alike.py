# error: none
# expect: KeyReuseError
# jax-differs: jax silently gives both helpers the same key
# line: 28
# also-line: 22
# depends: -
# fix: split_key
# fixed-file: fixed/shuffled_and_dropped_alike.py
# result: (200, 4) True
# family: silent/key-reuse-helpers

import jax
import jax.numpy as jnp


def augment(key, images):
    flips = jax.random.bernoulli(key, 0.5, (images.shape[0],))
    return jnp.where(flips[:, None], images[:, ::-1], images), flips


def choose(key, images):
    keep = jax.random.bernoulli(key, 0.5, (images.shape[0],))
    return jnp.where(keep[:, None], images, 0.0), keep


def prepare(key, images):
    images, flips = augment(key, images)
    images, keep = choose(key, images)
    return images, flips, keep


images, flips, keep = prepare(jax.random.key(0), jnp.ones((200, 4)))
print(images.shape, bool(jnp.any(flips != keep)))
