# error: none
# expect: UnusedResultWarning | IntegerOverflowWarning | OverflowError
# jax-differs: jax silently goes on with bytes, which wrap
# line: 23
# also-line: 24
# depends: -
# fix: assign_result
# result: 7.441

import jax
import jax.numpy as jnp
import numpy as np


def load_pair(rng):
    first = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    second = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    return jnp.asarray(first), jnp.asarray(second)


@jax.jit
def psnr(reference, image):
    reference.astype(jnp.float32)
    mse = jnp.mean((reference - image) ** 2)
    return 10.0 * jnp.log10(255.0**2 / mse)


a, b = load_pair(np.random.default_rng(5))
print(round(float(psnr(a, b)), 3))
