# error: TracerArrayConversionError
# line: 17
# depends: maturities, spread
# fix: jnp_instead_of_np
# fixed-file: fixed/array_np_interp_curve.py
# result: 99.896

import jax
import jax.numpy as jnp
import numpy as np

TENORS = np.array([0.5, 1.0, 2.0, 5.0, 10.0])
YIELDS = np.array([0.031, 0.033, 0.036, 0.040, 0.043])


def zero_rate(maturity):
    return np.interp(maturity, TENORS, YIELDS)


@jax.jit
def price(maturities, cashflows, spread):
    shifted = maturities + 0.25 * (spread > 0.0)
    rates = zero_rate(shifted) + spread
    return jnp.sum(cashflows * jnp.exp(-rates * maturities))


maturities = jnp.array([1.0, 2.0, 3.0])
print(round(float(price(maturities, jnp.array([4.0, 4.0, 104.0]), 0.002)), 3))
