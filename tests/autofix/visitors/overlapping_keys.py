# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws the noise of one sensor with the key of the next
# line: 21
# also-line: 22
# depends: -
# fix: use_subkey
# fixed-file: fixed/overlapping_keys.py
# result: (3, 500) False
# family: silent/key-reuse-overlapping-index

import jax
import jax.numpy as jnp

SENSORS = 3
truth = jnp.linspace(0.0, 1.0, 500)
keys = jax.random.split(jax.random.key(8), SENSORS + 1)

noises, drifts = [], []
for i in range(SENSORS):
    noises.append(jax.random.normal(keys[i], truth.shape))
    drifts.append(jnp.cumsum(jax.random.normal(keys[i + 1], truth.shape)) / 30.0)
readings = truth + jnp.stack(noises) + jnp.stack(drifts)
related = jnp.allclose(30.0 * jnp.diff(drifts[0]), noises[1][1:], atol=1e-2)
print(readings.shape, bool(related))
