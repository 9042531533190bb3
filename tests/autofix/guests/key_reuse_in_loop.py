# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws the same noise in each step
# line: 16
# also-line: 22
# depends: -
# fix: split_key
# fixed-file: fixed/key_reuse_in_loop.py
# result: True

import jax
import jax.numpy as jnp


def langevin_step(key, x, step):
    noise = jax.random.normal(key, x.shape)
    return x - step * x + jnp.sqrt(2.0 * step) * noise


def sample(key, x, steps):
    for _ in range(steps):
        x = langevin_step(key, x, 0.05)
    return x


x = sample(jax.random.key(2), jnp.zeros(400), 120)
print(bool(0.8 < x.std() < 1.2))
