# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax's flattened vector is in the order of the sorted keys
# line: 28
# depends: -
# fix: tree_unflatten
# fixed-file: fixed/standard_errors_by_name.py
# result: {'scale': 0.054, 'rate': 0.037, 'background': 0.064}
# family: silent/dict-order

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

t = jnp.linspace(0.0, 4.0, 30)
y = 2.0 * jnp.exp(-0.5 * t) + 0.3 + 0.05 * jnp.sin(9.0 * t)
estimates = {"scale": 2.0, "rate": 0.5, "background": 0.3}
flat, unravel = ravel_pytree(jax.tree.map(jnp.asarray, estimates))


def residuals(flat):
    p = unravel(flat)
    return p["scale"] * jnp.exp(-p["rate"] * t) + p["background"] - y


J = jax.jacobian(residuals)(flat)
errors = 0.05 * jnp.sqrt(jnp.diag(jnp.linalg.inv(J.T @ J)))
table = dict(zip(estimates, errors.tolist()))
print({name: round(float(table[name]), 3) for name in estimates})
