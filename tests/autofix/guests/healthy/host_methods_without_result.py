import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x))


runs = {"a": [3.0, 1.0, 2.0, 0.0]}
runs.update(b=[1.0, 1.0, 1.0, 1.0])
for values in runs.values():
    values.sort()
buffer = np.array(runs["a"])
buffer.sort()
np.clip(buffer, 0.5, 2.5, out=buffer)
spectrum(jnp.asarray(buffer)).block_until_ready()
jax.block_until_ready(spectrum(jnp.asarray(runs["b"])))
print(buffer.tolist(), [round(float(v), 3) for v in spectrum(jnp.asarray(buffer))])
