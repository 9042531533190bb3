# error: none
# expect: none
# result: same True

"""Separable blur with replicated borders, checked against NumPy."""
import jax
import jax.numpy as jnp
import numpy as np

TAPS = jnp.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0


def blur_axis(image, axis):
    n = image.shape[axis]
    offsets = jnp.arange(-2, 3)
    index = jnp.clip(jnp.arange(n)[:, None] + offsets[None, :], 0, n - 1)
    gathered = jnp.take(image, index, axis=axis)
    return jnp.tensordot(gathered, TAPS, axes=([axis + 1], [0]))


@jax.jit
def blur(image):
    return blur_axis(blur_axis(image, 0), 1)


def reference(image):
    taps = np.asarray(TAPS)
    padded = np.pad(image, 2, mode="edge")
    rows = sum(t * padded[i:i + image.shape[0], :] for i, t in enumerate(taps))
    return sum(t * rows[:, i:i + image.shape[1]] for i, t in enumerate(taps))


image = np.random.default_rng(1).random((9, 7)).astype(np.float32)
out = blur(jnp.asarray(image))
print("same", bool(np.allclose(out, reference(image), atol=1e-5)))
