# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently throws one coin for the whole batch
# line: 18
# depends: -
# fix: pass_key
# result: True

import random

import jax
import jax.numpy as jnp

random.seed(12)


def augment(image):
    if random.random() < 0.5:
        image = image[:, ::-1]
    return image + 0.0


images = jnp.tile(jnp.arange(3.0), (200, 2, 1))
batch = jax.vmap(augment)(images)
flipped = jnp.mean(batch[:, 0, 0] == 2.0)
print(bool(0.3 < flipped < 0.7))
