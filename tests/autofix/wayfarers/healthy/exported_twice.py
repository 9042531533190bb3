# error: none
# expect: none
# result: [0.25, 0.5, 0.75, 1.0] [0.5, 1.0]

import jax
import jax.numpy as jnp
from jax import export

n = export.symbolic_shape("n")[0]
f = jax.jit(lambda x: jnp.cumsum(x) / x.shape[0])
exported = export.export(f)(jax.ShapeDtypeStruct((n,), jnp.float32))
print(exported.call(jnp.ones(4)).tolist(), exported.call(jnp.ones(2)).tolist())
