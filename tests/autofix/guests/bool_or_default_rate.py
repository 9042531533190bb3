# error: TracerBoolConversionError
# line: 16
# depends: rate
# fix: none_default
# fixed-file: fixed/bool_or_default_rate.py
# result: 100.0 ; 107.434 ; 103.63

import jax
import jax.numpy as jnp

DEFAULT_RATE = 0.05


@jax.jit
def discount(cashflows, rate=None):
    rate = rate or DEFAULT_RATE
    years = jnp.arange(1, cashflows.shape[0] + 1)
    return jnp.sum(cashflows / (1.0 + rate) ** years)


bond = jnp.array([5.0, 5.0, 5.0, 105.0])
print(round(float(discount(bond)), 3))
for quoted in (0.03, 0.04):
    print(round(float(discount(bond, quoted)), 3))
