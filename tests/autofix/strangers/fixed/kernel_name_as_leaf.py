# One correct fixed version of kernel_name_as_leaf.py
import dataclasses

import jax
import jax.numpy as jnp

KERNELS = {"rbf": lambda d: jnp.exp(-0.5 * d**2), "exp": lambda d: jnp.exp(-jnp.abs(d))}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Process:
    kernel: str = dataclasses.field(metadata={"static": True})
    scale: jax.Array
    noise: float

    def covariance(self, x):
        distance = (x[:, None] - x[None, :]) / self.scale
        return KERNELS[self.kernel](distance) + self.noise * jnp.eye(x.shape[0])


@jax.jit
def log_evidence(gp, x, y):
    factor = jnp.linalg.cholesky(gp.covariance(x))
    z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    return -0.5 * z @ z - jnp.sum(jnp.log(jnp.diag(factor)))


gp = Process("rbf", jnp.array(0.7), 0.1)
x = jnp.array([0.0, 0.5, 1.0, 2.0])
print(round(float(log_evidence(gp, x, jnp.sin(x))), 4))
