# error: TypeError
# expect: TypeError | ValueError
# line: 13
# depends: -
# fix: at_set
# result: 6.0 2

import jax.numpy as jnp

readings = jnp.array([1.0, 2.0, 99.0, 3.0, -50.0])
bad = jnp.abs(readings) > 10
clean = readings
clean[bad] = 0.0
print(float(clean.sum()), int(bad.sum()))
