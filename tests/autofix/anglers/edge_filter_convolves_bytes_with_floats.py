# error: TypeError
# line: 19
# also-line: 17
# depends: -
# fix: any
# result: (2, 4, 5) ; [848.5, 848.5, 400.0, 848.5, 848.5] ; 161.79

import jax
import jax.numpy as jnp
import numpy as np

sobel = jnp.array([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])


@jax.jit
def edges(frames):
    batch = frames[:, None]
    kernels = jnp.stack([sobel, sobel.T])[:, None]
    responses = jax.lax.conv(batch, kernels, (1, 1), "VALID")
    return jnp.sqrt(jnp.sum(responses**2, axis=1))


rows, cols = np.mgrid[0:6, 0:7]
disc = ((rows - 2) ** 2 + (cols - 3) ** 2 < 5) * 200
ramp = rows * 20 + cols * 3
frames = jnp.asarray(np.stack([disc, ramp]).astype(np.uint8))
strength = edges(frames)
print(strength.shape)
print(strength[0, 0].round(1).tolist())
print(round(float(strength[1].mean()), 2))
