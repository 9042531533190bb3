"""Bags and delayed calls of dask: jitted functions and arrays travel to processes and back."""

import json

import dask
import dask.bag
import jax
import jax.numpy as jnp


@jax.jit
def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


if __name__ == "__main__":
    arrays = [jnp.arange(1.0, 4.0) * i for i in range(4)]
    bag = dask.bag.from_sequence(arrays, npartitions=2)
    norms = bag.map(norm).compute(scheduler="processes", num_workers=1)
    slope = dask.delayed(jax.grad(lambda x: jax.nn.softplus(x).sum()))(arrays[1])
    same = dask.base.tokenize(arrays[1]) == dask.base.tokenize(jnp.arange(1.0, 4.0))
    found = {
        "norms": [float(x) for x in norms],
        "slope": slope.compute(scheduler="processes", num_workers=1).tolist(),
        "equal tokens": [float(same)],
    }
    print(json.dumps(found))
