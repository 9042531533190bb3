import jax
import jax.numpy as jnp
import numpy as np

KNOTS = np.array([0.0, 0.25, 0.75, 1.0])
CURVE = np.array([0.0, 0.15, 0.85, 1.0])


@jax.jit
def grade(image, exposure):
    exposed = jnp.clip(image * 2.0 ** exposure, 0.0, 1.0)
    toned = jnp.interp(exposed, KNOTS, CURVE)
    return toned - toned.mean()


image = jnp.array([[0.1, 0.2, 0.4], [0.5, 0.6, 0.9]])
out = grade(image, 0.5)
print(jnp.round(out, 3).tolist())
