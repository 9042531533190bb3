# error: none
# expect: KeyReuseError
# jax-differs: jax silently starts both layers with the same weights
# line: 16
# also-line: 22
# depends: -
# fix: split_key
# fixed-file: fixed/key_reuse_layer_init.py
# result: False (6, 6)

import jax
import jax.numpy as jnp


def dense(key, n_in, n_out):
    return jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in)


def init(key, width):
    return {
        "query": dense(key, width, width),
        "value": dense(key, width, width),
    }


params = init(jax.random.key(0), 6)
print(bool(jnp.all(params["query"] == params["value"])), params["value"].shape)
