# One correct fixed version of layer_changed_after_call.py
from functools import partial

import jax
import jax.numpy as jnp


class Thermostat:
    def __init__(self, target):
        self.target = target

    @partial(jax.jit, static_argnums=0)
    def scale(self, velocities, target):
        """Rescales velocities to the wanted temperature."""
        temperature = jnp.mean(velocities**2)
        return velocities * jnp.sqrt(target / temperature)


bath = Thermostat(1.0)
velocities = jnp.array([1.0, -2.0, 0.5, 0.5])
for target in (1.0, 0.5, 0.25):
    bath.target = target
    velocities = bath.scale(velocities, bath.target)
    print(round(float(jnp.mean(velocities**2)), 4))
