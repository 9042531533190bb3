import jax
import jax.numpy as jnp

image = jnp.arange(12.0).reshape(3, 4)


@jax.jit
def shifted(image, by):
    """Moves the columns; what comes from outside is zero."""
    columns = jnp.arange(image.shape[1]) + by
    columns = jnp.where(columns < 0, image.shape[1], columns)
    return jnp.take(image, columns, axis=1, mode="fill", fill_value=0.0)


print(shifted(image, 2).tolist()[0], shifted(image, -1).tolist()[0])
