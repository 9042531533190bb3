# error: TracerArrayConversionError
# line: 15
# depends: theta
# fix: jnp_instead_of_np
# result: 0.7854 1.1477 -2.3571

"""A log posterior with a prior that was written for NumPy."""
import jax
import jax.numpy as jnp
import numpy as np
from functools import partial


def prior(theta, *, scale):
    return -0.5 * np.sum(np.square(theta / scale))


def likelihood(theta, data):
    return -jnp.sum((data - theta[0]) ** 2) / (2 * jnp.exp(theta[1]))


class Posterior:
    def __init__(self, data, scale):
        self.data = data
        self.prior = partial(prior, scale=scale)

    def __call__(self, theta):
        return likelihood(theta, self.data) + self.prior(theta)


posterior = Posterior(jnp.array([1.0, 2.0, 4.0]), scale=np.array([10.0, 2.0]))


@jax.jit
def ascend(theta, rate):
    value, slope = jax.value_and_grad(posterior)(theta)
    return theta + rate * slope, value


theta = jnp.zeros(2)
for rate in (0.1, 0.05):
    theta, value = ascend(theta, rate)
print(*[round(float(t), 4) for t in theta], round(float(value), 4))
