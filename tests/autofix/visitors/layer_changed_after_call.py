# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the attribute that the object had at the first call
# line: 26
# also-line: 22, 32
# depends: -
# fix: pass_argument
# fixed-file: fixed/layer_changed_after_call.py
# result: 1.0 ; 0.5 ; 0.25
# family: silent/stale-static-self

from functools import partial

import jax
import jax.numpy as jnp


class Thermostat:
    def __init__(self, target):
        self.target = target

    @partial(jax.jit, static_argnums=0)
    def scale(self, velocities):
        """Rescales velocities to the wanted temperature."""
        temperature = jnp.mean(velocities**2)
        return velocities * jnp.sqrt(self.target / temperature)


bath = Thermostat(1.0)
velocities = jnp.array([1.0, -2.0, 0.5, 0.5])
for target in (1.0, 0.5, 0.25):
    bath.target = target
    velocities = bath.scale(velocities)
    print(round(float(jnp.mean(velocities**2)), 4))
