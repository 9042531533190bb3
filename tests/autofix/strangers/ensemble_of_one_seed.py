# error: none
# expect: KeyReuseError
# jax-differs: jax silently makes all members alike
# line: 18
# depends: -
# fix: split_key
# fixed-file: fixed/ensemble_of_one_seed.py
# result: (3, 4) members differ: True
# family: 2/key-in-vmap

import jax
import jax.numpy as jnp

root = jax.random.key(11)


def member(scale):
    w = scale * jax.random.normal(root, (4,))
    return w / jnp.linalg.norm(w)


scales = jnp.array([0.5, 1.0, 2.0])
ensemble = jax.jit(jax.vmap(member))(scales)
gaps = jnp.linalg.norm(ensemble[1:] - ensemble[:-1], axis=1)
print(ensemble.shape, "members differ:", bool(jnp.all(gaps > 1e-3)))
