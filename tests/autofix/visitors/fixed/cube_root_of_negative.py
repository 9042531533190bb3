# One correct fixed version of cube_root_of_negative.py
import jax
import jax.numpy as jnp


@jax.jit
def signed_root(x):
    """The cube-root transform for rainfall anomalies, which keeps the sign."""
    return jnp.cbrt(x)


def standardized(x):
    shifted = signed_root(x)
    return (shifted - shifted.mean()) / shifted.std()


anomalies = jnp.array([8.0, -1.0, 0.0, 27.0, -64.0])
print([round(float(v), 4) for v in standardized(anomalies)])
