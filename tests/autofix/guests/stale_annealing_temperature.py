# error: none
# expect: StaleValueWarning
# jax-differs: jax silently goes on with the temperature of the first call
# line: 19
# also-line: 25, 26
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_annealing_temperature.py
# result: [0.6065, 0.2231, 0.6065]

import jax
import jax.numpy as jnp

temperature = 4.0


@jax.jit
def accept_probability(old_cost, new_cost):
    return jnp.minimum(1.0, jnp.exp((old_cost - new_cost) / temperature))


costs = [(10.0, 12.0), (9.0, 12.0), (9.5, 10.0)]
history = []
for old, new in costs:
    history.append(float(accept_probability(old, new)))
    temperature = 0.5 * temperature
print([round(p, 4) for p in history])
