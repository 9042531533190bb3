import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

y = np.array([0.1, 0.4, 0.35, 0.8, 1.1])
x = np.linspace(0.0, 1.0, 5)


@jax.jit
@jax.value_and_grad
def objective(theta):
    return jnp.sum((theta[0] + theta[1] * x - y) ** 2)


def on_host(theta):
    value, grad = objective(theta)
    return float(value), np.asarray(grad, dtype=np.float64)


result = minimize(on_host, np.zeros(2), jac=True, method="L-BFGS-B")
reference = np.polyfit(x, y, 1)[::-1]
print(np.allclose(result.x, reference, atol=1e-3), round(float(norm.cdf(0.0)), 2))
