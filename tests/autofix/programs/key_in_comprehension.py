# error: KeyReuseError
# line: 11
# depends: -
# fix: split_key
# result: [(2,), (3,)]

import jax
import jax.numpy as jnp

def init(key, sizes):
    return [jax.random.normal(key, (n,)) for n in sizes]

ws = init(jax.random.key(0), [2, 3])
print([w.shape for w in ws])
