import jax
import jax.numpy as jnp



def augment(image, key):
    flip = jax.random.bernoulli(key)
    return jnp.where(flip, image[:, ::-1], image)


images = jnp.tile(jnp.arange(3.0), (200, 2, 1))
batch = jax.vmap(augment)(images, jax.random.split(jax.random.key(12), 200))
flipped = jnp.mean(batch[:, 0, 0] == 2.0)
print(bool(0.3 < flipped < 0.7))
