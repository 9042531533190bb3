# One correct fixed version of all_keys_for_one_draw.py
import jax
import jax.numpy as jnp


def chains(key, n, steps):
    keys = jax.random.split(key, n)
    paths = []
    for i in range(n):
        noise = jax.random.normal(keys[i], (steps,))
        paths.append(jnp.cumsum(noise))
    return jnp.stack(paths)


paths = chains(jax.random.key(3), 4, 10)
print(paths.shape, len({round(float(p[-1]), 4) for p in paths}))
