import time
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np

spent = {}


@contextmanager
def phase(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - start


with phase("load"):
    data = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
with phase("fit"):
    center = jax.block_until_ready(jax.jit(lambda x: jnp.median(x, axis=0))(data))
print(sorted(spent), center.shape, all(v > 0 for v in spent.values()))
