# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the strength that self had when it was compiled
# line: 22
# also-line: 31, 32
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_bound_method.py
# result: [0.214, 1.69, 16.45]

import jax
import jax.numpy as jnp


class RidgeModel:
    def __init__(self, strength):
        self.strength = strength
        self.objective = jax.jit(self._objective)

    def _objective(self, coef, x, y):
        residual = x @ coef - y
        return jnp.sum(residual**2) + self.strength * jnp.sum(coef**2)


x = jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
y = jnp.array([1.0, 2.0, 2.5])
coef = jnp.array([1.0, 0.8])
model = RidgeModel(strength=0.1)
path = []
for strength in (0.1, 1.0, 10.0):
    model.strength = strength
    path.append(round(float(model.objective(coef, x, y)), 3))
print(path)
