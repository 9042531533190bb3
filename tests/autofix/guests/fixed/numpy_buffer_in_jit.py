# One correct fixed version of numpy_buffer_in_jit.py
import jax
import jax.numpy as jnp


@jax.jit
def average_by_month(asset_paths):
    monthly = jnp.zeros(4)
    for month in range(4):
        monthly = monthly.at[month].set(asset_paths[:, month].mean())
    return monthly


asset_paths = jnp.array([[100.0, 102.0, 101.0, 105.0], [100.0, 98.0, 99.0, 97.0]])
print(average_by_month(asset_paths).tolist())
