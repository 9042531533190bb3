# One correct fixed version of key_reuse_layer_init.py
import jax
import jax.numpy as jnp


def dense(key, n_in, n_out):
    return jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in)


def init(key, width):
    query_key, value_key = jax.random.split(key)
    return {
        "query": dense(query_key, width, width),
        "value": dense(value_key, width, width),
    }


params = init(jax.random.key(0), 6)
print(bool(jnp.all(params["query"] == params["value"])), params["value"].shape)
