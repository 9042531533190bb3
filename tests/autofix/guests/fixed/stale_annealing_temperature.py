# One correct fixed version of stale_annealing_temperature.py
import jax
import jax.numpy as jnp

temperature = 4.0


@jax.jit
def accept_probability(old_cost, new_cost, temperature):
    return jnp.minimum(1.0, jnp.exp((old_cost - new_cost) / temperature))


costs = [(10.0, 12.0), (9.0, 12.0), (9.5, 10.0)]
history = []
for old, new in costs:
    history.append(float(accept_probability(old, new, temperature)))
    temperature = 0.5 * temperature
print([round(p, 4) for p in history])
