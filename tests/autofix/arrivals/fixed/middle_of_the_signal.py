# One correct fixed version of middle_of_the_signal.py
import jax
import jax.numpy as jnp


@jax.jit
def centered(signal):
    middle = signal.shape[0] // 2
    return signal - signal[middle]


print(float(centered(jnp.arange(9.0) ** 2).sum()))
