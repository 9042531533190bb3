import numpy as np

import sagax
import sagax.numpy as jnp

rng = np.random.default_rng(0)


@sagax.jit
def dropout(x):
    keep = rng.random(x.shape) > 0.5  #~ SX0411 `rng.random(x.shape)` is called once, while `dropout` is traced
    return jnp.where(keep, x, 0.0)


print(dropout(jnp.ones(3)).shape)
