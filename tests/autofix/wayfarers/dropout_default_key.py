# error: none
# expect: KeyReuseError
# jax-differs: jax drops the same units each time
# line: 15
# also-line: 22
# depends: -
# fix: split_key
# result: distinct masks 4

import jax
import jax.numpy as jnp


def dropout(x, rate=0.5, key=jax.random.key(0)):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0.0)


x = jnp.ones(64)
masks = set()
for step in range(4):
    dropped = dropout(x)
    masks.add(tuple((dropped > 0).tolist()))
print("distinct masks", len(masks))
