# One correct fixed version of slope_past_the_end.py
import jax
import jax.numpy as jnp


@jax.jit
def arc_length(signal, dt):
    here = jnp.arange(signal.shape[0] - 1)
    rise = signal[here + 1] - signal[here]
    return jnp.sum(jnp.sqrt(dt**2 + rise**2))


t = jnp.linspace(0.0, 1.0, 5)
print(round(float(arc_length(t**2, 0.25)), 4))
