# error: InconclusiveDimensionOperation
# expect: InconclusiveDimensionOperation | ValueError | AttributeError | TypeError
# line: 26
# depends: frames
# fix: fori_or_scan
# result: [2.5, 3.375]
# grade: ran
"""A loop over the rows of an array, whose number is symbolic."""
from functools import partial

import jax
import jax.numpy as jnp
from jax import export


def smooth(state, frame, rate):
    return (1.0 - rate) * state + rate * frame


class Encoder:
    def __init__(self, rate):
        self.rate = rate

    def run(self, frames):
        state = jnp.zeros(frames.shape[1])
        for frame in frames:
            state = smooth(state, frame, self.rate)
        return state


def build(encoder):
    dims = export.symbolic_shape("t, 2")
    return export.export(jax.jit(encoder.run))(jax.ShapeDtypeStruct(dims, jnp.float32))


served = build(Encoder(0.5))
print([round(float(v), 4) for v in served.call(jnp.arange(6.0).reshape(3, 2))])
