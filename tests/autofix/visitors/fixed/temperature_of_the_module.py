# One correct fixed version of temperature_of_the_module.py
import jax
import jax.numpy as jnp

temperature = 5.0


@jax.jit
def soft_minimum(energies, temperature):
    return jnp.sum(energies * jax.nn.softmax(-energies / temperature))


energies = jnp.array([1.0, 0.5, 2.0, 0.8])
results = []
for _ in range(4):
    results.append(round(float(soft_minimum(energies, temperature)), 4))
    temperature = 0.3 * temperature
print(results)
