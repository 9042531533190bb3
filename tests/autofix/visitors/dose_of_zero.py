# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 20
# also-line: 30
# depends: params
# fix: double_where
# fixed-file: fixed/dose_of_zero.py
# result: True True
# family: silent/nan-gradient-log

import jax
import jax.numpy as jnp

doses = jnp.array([0.0, 0.5, 1.0, 2.0, 4.0])
effects = jnp.array([0.0, 0.21, 0.48, 0.79, 0.95])


def hill(params, dose):
    powered = jnp.exp(params["exponent"] * jnp.log(dose))
    return powered / (params["half"] ** params["exponent"] + powered)


def loss(params):
    return jnp.mean((hill(params, doses) - effects) ** 2)


params = {"exponent": jnp.array(1.0), "half": jnp.array(0.5)}
for _ in range(300):
    slopes = jax.grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, slopes)
print(bool(jnp.isfinite(params["exponent"])), float(loss(params)) < 0.002)
