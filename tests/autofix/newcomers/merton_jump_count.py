# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError
# line: 18
# depends: key, intensity
# fix: fori_or_scan
# result: True (400,)

import jax
import jax.numpy as jnp


@jax.jit
def jump_total(key, intensity, mu, delta):
    k_count, k_size = jax.random.split(key)
    n = jax.random.poisson(k_count, intensity)
    sizes = mu + delta * jax.random.normal(k_size, (32,))
    total = 0.0
    for j in range(int(n)):
        total = total + sizes[j]
    return total


keys = jax.random.split(jax.random.key(8), 400)
totals = jnp.stack([jump_total(k, 3.0, -0.1, 0.05) for k in keys])
print(bool(abs(totals.mean() + 0.3) < 0.05), totals.shape)
