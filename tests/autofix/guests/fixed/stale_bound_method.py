# One correct fixed version of stale_bound_method.py
import jax
import jax.numpy as jnp


class RidgeModel:
    def __init__(self, strength):
        self.strength = strength
    def objective(self, coef, x, y):
        return ridge_objective(coef, x, y, self.strength)


@jax.jit
def ridge_objective(coef, x, y, strength):
    residual = x @ coef - y
    return jnp.sum(residual**2) + strength * jnp.sum(coef**2)


x = jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
y = jnp.array([1.0, 2.0, 2.5])
coef = jnp.array([1.0, 0.8])
model = RidgeModel(strength=0.1)
path = []
for strength in (0.1, 1.0, 10.0):
    model.strength = strength
    path.append(round(float(model.objective(coef, x, y)), 3))
print(path)
