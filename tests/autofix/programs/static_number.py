# error: RecompilationWarning
# line: 18
# depends: alpha
# fix: traced_argument
# result: 3.0

import jax
import jax.numpy as jnp


def blend(a, b, alpha):
    return a * alpha + b * (1.0 - alpha)


mix = jax.jit(blend, static_argnames="alpha")
a = jnp.array(1.0)
for i in range(6):
    a = mix(a, 3.0, alpha=i / 10)
print(round(float(a), 4))
