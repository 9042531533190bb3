import jax
import jax.numpy as jnp

STEPS = 400


def walk(key):
    def step(x, step_key):
        x = x + jax.random.normal(step_key)
        return x, x

    _, path = jax.lax.scan(step, 0.0, jax.random.split(key, STEPS))
    return path


keys = jax.random.split(jax.random.key(3), 2000)
paths = jax.vmap(walk)(keys)
spread = jnp.std(paths[:, -1])
print(round(float(spread / jnp.sqrt(STEPS))))
print(bool(jnp.all(jnp.diff(jnp.sign(paths), axis=1) == 0)))
