import os
import random
import time

import jax
import jax.numpy as jnp
import numpy as np

scale = float(os.environ.get("NO_SUCH_SETTING", "0.5"))
seed = random.Random(3).randrange(2**31)
started = time.time()
data = np.random.default_rng(seed).normal(size=(8, 2)).astype(np.float32)


@jax.jit
def spread(data, scale):
    return scale * jnp.std(data, axis=0)


print(spread(data, scale).shape, time.time() >= started, scale)
