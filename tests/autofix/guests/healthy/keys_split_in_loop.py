import jax
import jax.numpy as jnp


def noisy_step(key, x):
    move_key, flip_key = jax.random.split(key)
    move = jax.random.normal(move_key, x.shape)
    flip = jax.random.bernoulli(flip_key, 0.5, x.shape)
    return x + jnp.where(flip, move, -move)


key = jax.random.key(0)
x = jnp.zeros(3)
for step in range(4):
    x = noisy_step(jax.random.fold_in(key, step), x)
ensemble = jax.vmap(noisy_step, in_axes=(0, None))(jax.random.split(jax.random.key(1), 5), x)
print(ensemble.shape, len(set(ensemble[:, 0].tolist())))
