# error: InconclusiveDimensionOperation
# expect: InconclusiveDimensionOperation | TypeError | TracerIntegerConversionError
# line: 23
# depends: signal
# fix: fori_or_scan
# result: [0.4621, 0.7616, 0.9051]
# grade: ran
"""A list as long as a symbolic size."""
import jax
import jax.numpy as jnp
from jax import export


class Filter:
    def __init__(self, taps):
        self.taps = taps

    def at(self, signal, i):
        return jnp.tanh(signal[i] @ self.taps)

    def __call__(self, signal):
        n = signal.shape[0]
        return jnp.stack([self.at(signal, i) for i in range(n)])


def ship(model, width):
    (n,) = export.symbolic_shape("n")
    return export.export(jax.jit(model))(jax.ShapeDtypeStruct((n, width), jnp.float32))


served = ship(Filter(jnp.array([0.5, 1.0])), 2)
print([round(float(v), 4) for v in served.call(jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))])
