"""Futures of dask's scheduler: jitted and differentiated functions, arrays and keys travel to a worker process."""

import json

import dask
import jax
import jax.numpy as jnp
from distributed import Client, LocalCluster


@jax.jit
def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def loss(weights, x):
    return jax.nn.softplus(x @ weights).sum()


if __name__ == "__main__":
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    arrays = [jnp.arange(1.0, 4.0) * i for i in range(3)]
    keys = jax.random.split(jax.random.key(0), 2)
    weights = jnp.array([0.1, -0.2, 0.3])
    draw = jax.jit(lambda k: jax.random.normal(k, (2,)))
    with LocalCluster(processes=True, **options) as cluster, Client(cluster) as client:
        held = client.scatter(arrays)
        slopes = client.map(jax.grad(loss), [weights] * 3, held)
        total = dask.delayed(sum)([dask.delayed(norm)(x) for x in arrays])
        found = {
            "norms": [float(x) for x in client.gather(client.map(norm, held))],
            "slopes": [x.tolist() for x in client.gather(slopes)],
            "draws": [x.tolist() for x in client.gather(client.map(draw, list(keys)))],
            "total": [float(total.compute())],
        }
    print(json.dumps(found))
