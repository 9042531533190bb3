# error: TypeError
# expect: TypeError | ConcretizationTypeError
# line: 16
# depends: length
# fix: where_mask_sum
# fixed-file: fixed/dynamic_slice_traced_size.py
# result: [1.5548, 1.5704, 2.8762]

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def segment_energy(signal, start, length):
    piece = lax.dynamic_slice(signal, (start,), (length,))
    return jnp.sum(piece**2)


signal = jnp.sin(jnp.arange(12.0))
segments = [(0, 4), (4, 3), (7, 5)]
energies = [segment_energy(signal, start, length) for start, length in segments]
print([round(float(e), 4) for e in energies])
