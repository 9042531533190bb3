import jax
import jax.numpy as jnp


@jax.jit
def second_moments(image):
    image = image.astype(jnp.float32)
    height, width = image.shape
    rows, columns = jnp.mgrid[:height, :width]
    mass = image.sum()
    center_row = (image * rows).sum() // mass
    center_column = (image * columns).sum() // mass
    down = (image * (rows - center_row) ** 2).sum()
    across = (image * (columns - center_column) ** 2).sum()
    return jnp.array([down, across]) / mass


image = jnp.full((300, 400), 2, dtype=jnp.int32).at[100:200, 100:300].set(40)
print(second_moments(image).round(0).tolist())
