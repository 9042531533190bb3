import jax
import jax.numpy as jnp

size = 6
rows = jnp.arange(10, dtype=jnp.float32)
images = rows[None, :, None, None] + 0.1 * rows[None, None, :, None] + jnp.zeros((4, 1, 1, 3))


def random_crop(key, image):
    key_top, key_left = jax.random.split(key)
    top = jax.random.randint(key_top, (), 0, image.shape[0] - size + 1)
    left = jax.random.randint(key_left, (), 0, image.shape[1] - size + 1)
    return jax.lax.dynamic_slice(image, (top, left, 0), (size, size, 3))


@jax.jit
def augment(key, images):
    keys = jax.random.split(key, images.shape[0])
    return jax.vmap(random_crop)(keys, images)


batch = augment(jax.random.key(5), images)
print(batch.shape)
print([round(float(v), 2) for v in batch[:, 0, 0, 0]])
print(round(float(batch.mean()), 3))
