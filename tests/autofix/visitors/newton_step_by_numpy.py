# error: TracerArrayConversionError
# line: 27
# depends: beta
# fix: jnp_function
# fixed-file: fixed/newton_step_by_numpy.py
# result: True True
# family: concretization/numpy-linalg

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(3)
X = rng.normal(size=(40, 2))
labels = (X @ np.array([1.5, -1.0]) + 0.5 * rng.normal(size=40) > 0).astype(np.float32)


def deviance(beta):
    logits = X @ beta
    return jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits) + 0.05 * beta @ beta


@jax.jit
def newton(beta):
    gradient = jax.grad(deviance)(beta)
    curvature = jax.hessian(deviance)(beta)
    return beta - np.linalg.solve(curvature, gradient)


beta = jnp.zeros(2)
for _ in range(6):
    beta = newton(beta)
print(float(jnp.linalg.norm(jax.grad(deviance)(beta))) < 1e-4, bool(beta[0] > 0 > beta[1]))
