import jax
import jax.numpy as jnp


class WeightedRidge:
    def __init__(self, alpha=0.1):
        self.alpha = alpha

    def objective(self, coef, x, y, w):
        residual = x @ coef - y
        return jnp.mean(w[:, None] * residual**2) + self.alpha * jnp.sum(coef**2)

    def fit(self, x, y, w, steps=400, lr=0.05):
        coef = jnp.zeros((x.shape[1], 1))
        grad = jax.jit(jax.grad(self.objective))
        for _ in range(steps):
            coef = coef - lr * grad(coef, x, y, w)
        return coef


x = jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
y = jnp.array([[0.0], [1.0], [2.0], [9.0]])
w = jnp.array([1.0, 1.0, 1.0, 0.01])
print(WeightedRidge().fit(x, y, w).ravel().round(3).tolist())
