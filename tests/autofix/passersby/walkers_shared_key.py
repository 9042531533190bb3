# error: none
# expect: KeyReuseError
# jax-differs: jax gives all walkers the same steps
# line: 31
# depends: -
# fix: split_key
# fixed-file: fixed/walkers_shared_key.py
# result: distinct paths 200 ; diffusive: True

import jax
import jax.numpy as jnp


def walk(key, start, n=100):
    steps = jax.random.choice(key, jnp.array([-1, 1]), (n,))
    return start + jnp.cumsum(steps)


def mean_square_displacement(paths, starts):
    return jnp.mean((paths - starts[:, None]) ** 2, axis=0)


def fit_exponent(msd):
    t = jnp.arange(1, msd.size + 1)
    slope = jnp.polyfit(jnp.log(t), jnp.log(jnp.maximum(msd, 1e-3)), 1)[0]
    return slope


starts = jnp.arange(200)
key = jax.random.key(2024)
paths = jax.vmap(walk, in_axes=(None, 0))(key, starts)
msd = mean_square_displacement(paths, starts)
distinct = len({tuple(row) for row in (paths - starts[:, None]).tolist()})
print("distinct paths", distinct)
print("diffusive:", bool(jnp.abs(fit_exponent(msd) - 1.0) < 0.15))
