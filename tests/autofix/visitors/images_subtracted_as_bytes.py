# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps around below zero
# line: 22
# depends: before, after
# fix: convert_dtype
# fixed-file: fixed/images_subtracted_as_bytes.py
# result: 11.1667
# family: silent/overflow-bytes

import jax
import jax.numpy as jnp
import numpy as np

before = np.array([[10, 200, 30], [40, 50, 60]], dtype=np.uint8)
after = np.array([[12, 190, 30], [20, 55, 90]], dtype=np.uint8)


@jax.jit
def motion(before, after):
    """Mean absolute difference of two camera frames."""
    difference = after - before
    return jnp.mean(jnp.abs(difference))


print(round(float(motion(before, after)), 4))
