# error: none
# expect: KeyReuseError
# jax-differs: jax silently fills both layers with the same numbers
# line: 22
# depends: -
# fix: use_subkey
# fixed-file: fixed/child_keys_forgotten.py
# result: 2 layers alike: False
# family: 2/unused-subkey

import jax
import jax.numpy as jnp


def dense(key, n_in, n_out):
    return {"w": jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in), "b": jnp.zeros(n_out)}


def init_mlp(key, width):
    first_key, second_key = jax.random.split(key)
    first = dense(first_key, width, width)
    second = dense(first_key, width, width)
    return [first, second]


layers = init_mlp(jax.random.PRNGKey(1), 4)
shared = jnp.allclose(layers[0]["w"], layers[1]["w"])
print(len(layers), "layers alike:", bool(shared))
