# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the temperature of the first call
# line: 20
# also-line: 27
# depends: -
# fix: pass_argument
# fixed-file: fixed/temperature_of_the_module.py
# result: [1.0146, 0.8981, 0.6981, 0.5396]
# family: silent/stale-global

import jax
import jax.numpy as jnp

temperature = 5.0


@jax.jit
def soft_minimum(energies):
    return jnp.sum(energies * jax.nn.softmax(-energies / temperature))


energies = jnp.array([1.0, 0.5, 2.0, 0.8])
results = []
for _ in range(4):
    results.append(round(float(soft_minimum(energies)), 4))
    temperature = 0.3 * temperature
print(results)
