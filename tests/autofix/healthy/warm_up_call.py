import time

import jax
import jax.numpy as jnp


@jax.jit
def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x)) ** 2


x = jnp.sin(jnp.arange(256.0))

# the first call compiles; its result is not needed
spectrum(x).block_until_ready()

start = time.perf_counter()
power = spectrum(x)
power.block_until_ready()
seconds = time.perf_counter() - start
print(power.shape, int(jnp.argmax(power)), 0.0 < seconds < 5.0)
