import os
import random
import time

import jax
import jax.numpy as jnp
import numpy as np

STARTED = time.time()
DEBUG = os.environ.get("NOT_SET_ANYWHERE", "0") == "1"
random.seed(1)
shuffled = random.sample(range(6), 6)
PROJECTION = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


@jax.jit
def project(x):
    """The random matrix is fixed on purpose, as in random features."""
    features = jnp.cos(x @ PROJECTION)
    if DEBUG:
        jax.debug.print("features {f}", f=features)
    return features


out = project(jnp.eye(6)[jnp.array(shuffled)])
print(out.shape, sorted(shuffled), time.time() >= STARTED)
