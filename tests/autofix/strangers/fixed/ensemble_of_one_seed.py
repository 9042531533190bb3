# One correct fixed version of ensemble_of_one_seed.py
import jax
import jax.numpy as jnp

root = jax.random.key(11)


def member(key, scale):
    w = scale * jax.random.normal(key, (4,))
    return w / jnp.linalg.norm(w)


scales = jnp.array([0.5, 1.0, 2.0])
keys = jax.random.split(root, scales.shape[0])
ensemble = jax.jit(jax.vmap(member))(keys, scales)
gaps = jnp.linalg.norm(ensemble[1:] - ensemble[:-1], axis=1)
print(ensemble.shape, "members differ:", bool(jnp.all(gaps > 1e-3)))
