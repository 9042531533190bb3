# error: TypeError
# expect: TypeError
# line: 15
# depends: new_keys
# fix: cast
# result: bfloat16 [1.0, 2.0, 3.0, 4.0] 5.0

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def append(cache, position, new_keys, new_values):
    keys = lax.dynamic_update_slice(cache["keys"], new_keys, (position, 0))
    values = lax.dynamic_update_slice(cache["values"], new_values, (position, 0))
    return {"keys": keys, "values": values}


cache = {
    "keys": jnp.zeros((6, 4), jnp.bfloat16),
    "values": jnp.zeros((6, 4), jnp.bfloat16),
}
token = jnp.arange(4.0)[None] + 1
cache = append(cache, 2, token, token * 0.5)
print(cache["keys"].dtype, cache["keys"][2].tolist(), float(cache["values"].sum()))
