import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def append(cache, position, new_keys, new_values):
    keys = lax.dynamic_update_slice(cache["keys"], new_keys.astype(jnp.bfloat16), (position, 0))
    values = lax.dynamic_update_slice(cache["values"], new_values.astype(jnp.bfloat16), (position, 0))
    return {"keys": keys, "values": values}


cache = {
    "keys": jnp.zeros((6, 4), jnp.bfloat16),
    "values": jnp.zeros((6, 4), jnp.bfloat16),
}
token = jnp.arange(4.0)[None] + 1
cache = append(cache, 2, token, token * 0.5)
print(cache["keys"].dtype, cache["keys"][2].tolist(), float(cache["values"].sum()))
