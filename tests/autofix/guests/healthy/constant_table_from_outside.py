import jax
import jax.numpy as jnp

KERNEL = jnp.array([0.25, 0.5, 0.25])
SCALE = 2.0


@jax.jit
def smooth(signal):
    padded = jnp.pad(signal, 1, mode="edge")
    windows = jnp.stack([padded[:-2], padded[1:-1], padded[2:]])
    return SCALE * KERNEL @ windows


signal = jnp.array([0.0, 4.0, 0.0, 4.0])
for _ in range(3):
    signal = smooth(signal)
print([round(float(v), 4) for v in signal])
