# error: ConcretizationTypeError
# line: 14
# depends: signal
# fix: size_arg
# result: [0, 20, 40]
# grade: ran
import jax
import jax.numpy as jnp


@jax.jit
def crossings(signal):
    flips = signal[1:] * signal[:-1] < 0
    places = jnp.nonzero(flips)[0]
    return places * 10


print([int(v) for v in crossings(jnp.array([1.0, -1.0, -2.0, 3.0, 4.0, -4.0]))])
