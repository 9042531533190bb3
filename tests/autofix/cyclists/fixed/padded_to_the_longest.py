import jax
import jax.numpy as jnp


from functools import partial


@partial(jax.jit, static_argnums=1)
def padded_energy(signal, longest):
    signal = jnp.pad(signal, (0, longest - signal.shape[0]))
    return jnp.abs(jnp.fft.rfft(signal)) ** 2


print(padded_energy(jnp.array([1.0, 2.0, 0.5]), 6).round(3).tolist())
