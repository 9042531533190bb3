"""Tasks and actors of ray: jitted and differentiated functions, arrays and keys travel to workers and back."""

import json
import os

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import jax
import jax.numpy as jnp
import ray


@jax.jit
def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


class Trainer:
    """Weights that live in a worker."""

    def __init__(self, weights):
        self.weights = weights

    def step(self, x):
        slope = jax.grad(lambda w: jax.nn.softplus(x @ w).sum())(self.weights)
        self.weights = self.weights - 0.1 * slope
        return self.weights


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    arrays = [jnp.arange(1.0, 4.0) * i for i in range(3)]
    keys = jax.random.split(jax.random.key(0), 2)
    apply = ray.remote(lambda f, *xs: f(*xs))
    shared = ray.put(arrays[1])
    trainer = ray.remote(Trainer).remote(jnp.array([0.1, -0.2, 0.3]))
    steps = ray.get([trainer.step.remote(jnp.stack(arrays)) for _ in range(2)])
    draw = jax.jit(lambda k: jax.random.normal(k, (2,)))
    found = {
        "norms": [float(x) for x in ray.get([apply.remote(norm, x) for x in arrays])],
        "shared": ray.get(apply.remote(jax.vmap(jnp.cos), shared)).tolist(),
        "draws": [x.tolist() for x in ray.get([apply.remote(draw, k) for k in keys])],
        "steps": [x.tolist() for x in steps],
    }
    ray.shutdown()
    print(json.dumps(found))
