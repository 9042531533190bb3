# One correct fixed version of outliers_set_in_place.py
import jax.numpy as jnp

readings = jnp.array([1.0, 2.0, 99.0, 3.0, -50.0])
bad = jnp.abs(readings) > 10
clean = readings
clean = clean.at[bad].set(0.0)
print(float(clean.sum()), int(bad.sum()))
