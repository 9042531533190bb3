# error: IntegerOverflowWarning
# line: 10
# depends: -
# fix: wider_dtype
# result: ['4e+09', '10']

import jax.numpy as jnp

population = jnp.array([2_000_000_000, 5])
doubled = population * 2
print([f"{float(v):.4g}" for v in doubled])
