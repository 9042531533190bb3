# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError | TypeError | TracerArrayConversionError
# line: 14
# depends: longest
# fix: static
# result: [12.250000953674316, 7.750000476837158, 1.7500001192092896, 0.25]

import jax
import jax.numpy as jnp


@jax.jit
def padded_energy(signal, longest):
    signal = jnp.pad(signal, (0, longest - signal.shape[0]))
    return jnp.abs(jnp.fft.rfft(signal)) ** 2


print(padded_energy(jnp.array([1.0, 2.0, 0.5]), 6).round(3).tolist())
