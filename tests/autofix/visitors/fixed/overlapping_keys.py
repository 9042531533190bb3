# One correct fixed version of overlapping_keys.py
import jax
import jax.numpy as jnp

SENSORS = 3
truth = jnp.linspace(0.0, 1.0, 500)
keys = jax.random.split(jax.random.key(8), 2 * SENSORS)

noises, drifts = [], []
for i in range(SENSORS):
    noises.append(jax.random.normal(keys[2 * i], truth.shape))
    drifts.append(jnp.cumsum(jax.random.normal(keys[2 * i + 1], truth.shape)) / 30.0)
readings = truth + jnp.stack(noises) + jnp.stack(drifts)
related = jnp.allclose(30.0 * jnp.diff(drifts[0]), noises[1][1:], atol=1e-2)
print(readings.shape, bool(related))
