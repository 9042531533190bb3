# One correct fixed version of query_key_drawn_twice.py
import jax
import jax.numpy as jnp

jax.config.update("jax_debug_key_reuse", True)


def init_attention(rng, width):
    r_query, r_memory, r_value = jax.random.split(rng, 3)
    scale = 1.0 / jnp.sqrt(width)
    query = scale * jax.random.normal(r_query, (width, width))
    memory = scale * jax.random.normal(r_memory, (width, width))
    value = scale * jax.random.normal(r_value, (width, width))
    return {"query": query, "memory": memory, "value": value}


params = init_attention(jax.random.key(4), 3)
print(sorted(params), "alike:", bool(jnp.allclose(params["query"], params["memory"])))
