# One correct fixed version of gain_in_a_settings_dict.py
import jax
import jax.numpy as jnp

SETTINGS = {"gain": 1.0}


@jax.jit
def amplify(x, gain):
    return gain * jnp.sum(x)


sums = []
for gain in (1.0, 2.0, 4.0):
    SETTINGS["gain"] = gain
    sums.append(float(amplify(jnp.ones(3), SETTINGS["gain"])))
print(sums)
