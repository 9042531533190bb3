# One correct fixed version of window_past_the_end.py
import jax
import jax.numpy as jnp

trace = jnp.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0])
padded = jnp.pad(trace, 2)


@jax.jit
def snippet(center):
    """Five samples around a spike."""
    return jax.lax.dynamic_slice(padded, (center,), (5,))


spikes = jnp.array([2, 7])
print(jnp.mean(jax.vmap(snippet)(spikes), axis=0).tolist())
