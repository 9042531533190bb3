# error: TypeError
# expect: TypeError
# line: 12
# depends: -
# fix: arguments
# result: [0.5, -1.0] 0.25

import jax
import jax.numpy as jnp

params = {"w": jnp.array([1.0, -2.0]), "b": jnp.array(0.5)}
halved = jax.tree.map(params, lambda p: 0.5 * p)
print(halved["w"].tolist(), float(halved["b"]))
