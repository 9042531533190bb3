# error: AttributeError
# line: 20
# depends: -
# fix: renamed_api
# fixed-file: fixed/old_tree_map.py
# result: [1.898, 1.898, 1.898] -0.949

"""Polyak averaging of parameters."""
import jax
import jax.numpy as jnp


class Polyak:
    def __init__(self, params, tau):
        self.average = params
        self.tau = tau

    def update(self, params):
        blend = lambda a, p: (1 - self.tau) * a + self.tau * p
        self.average = jax.tree_map(blend, self.average, params)
        return self.average


def quadratic(params):
    return jnp.sum((params["a"] - 2.0) ** 2) + (params["b"] + 1.0) ** 2


grad = jax.jit(jax.grad(quadratic))
params = {"a": jnp.zeros(3), "b": jnp.float32(0.0)}
polyak = Polyak(params, 0.1)
for _ in range(30):
    g = grad(params)
    params = {k: params[k] - 0.2 * g[k] for k in params}
    polyak.update(params)
print([round(float(v), 3) for v in polyak.average["a"]], round(float(polyak.average["b"]), 3))
