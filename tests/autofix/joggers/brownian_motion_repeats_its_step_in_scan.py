# error: none
# expect: KeyReuseError
# line: 16
# depends: -
# fix: any
# result: 1 ; False

import jax
import jax.numpy as jnp

STEPS = 400


def walk(key):
    def step(x, _):
        x = x + jax.random.normal(key)
        return x, x

    _, path = jax.lax.scan(step, 0.0, None, length=STEPS)
    return path


keys = jax.random.split(jax.random.key(3), 2000)
paths = jax.vmap(walk)(keys)
spread = jnp.std(paths[:, -1])
print(round(float(spread / jnp.sqrt(STEPS))))
print(bool(jnp.all(jnp.diff(jnp.sign(paths), axis=1) == 0)))
