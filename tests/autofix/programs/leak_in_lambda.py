# error: UnexpectedTracerError
# line: 11
# depends: x
# fix: callback
# result: 5.0 ; 9.0

import jax
import jax.numpy as jnp

seen = []
square = jax.jit(lambda x: (seen.append(x * 3.0), jnp.sum(x**2))[1])

print(round(float(square(jnp.arange(3.0))), 3))
print(round(float(seen[0].sum()), 3))
