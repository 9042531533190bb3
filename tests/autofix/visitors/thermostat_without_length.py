# error: ValueError
# expect: ValueError | TypeError
# line: 24
# depends: -
# fix: scan_length
# fixed-file: fixed/thermostat_without_length.py
# result: (200, 2) True
# family: carry/no-length

import jax
import jax.numpy as jnp


@jax.jit
def langevin(key, x):
    """Overdamped motion in a double well."""

    def step(state, _):
        x, key = state
        key, subkey = jax.random.split(key)
        x = x - 0.01 * (x**3 - x) + 0.05 * jax.random.normal(subkey, x.shape)
        return (x, key), x

    _, path = jax.lax.scan(step, (x, key), None)
    return path


path = langevin(jax.random.key(1), jnp.array([1.0, -1.0]))
print(path.shape, bool(jnp.all(jnp.isfinite(path))))
