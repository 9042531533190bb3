# One correct fixed version of dose_of_zero.py
import jax
import jax.numpy as jnp

doses = jnp.array([0.0, 0.5, 1.0, 2.0, 4.0])
effects = jnp.array([0.0, 0.21, 0.48, 0.79, 0.95])


def hill(params, dose):
    safe = jnp.where(dose > 0.0, dose, 1.0)
    powered = jnp.where(dose > 0.0, jnp.exp(params["exponent"] * jnp.log(safe)), 0.0)
    return powered / (params["half"] ** params["exponent"] + powered)


def loss(params):
    return jnp.mean((hill(params, doses) - effects) ** 2)


params = {"exponent": jnp.array(1.0), "half": jnp.array(0.5)}
for _ in range(300):
    slopes = jax.grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, slopes)
print(bool(jnp.isfinite(params["exponent"])), float(loss(params)) < 0.002)
