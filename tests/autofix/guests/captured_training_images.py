# error: none
# expect: CapturedConstantWarning
# jax-differs: jax silently puts the whole array into the compiled program
# line: 19
# also-line: 17
# depends: -
# fix: pass_argument
# fixed-file: fixed/captured_training_images.py
# result: [0.0267, 0.08, 0.1333]

import jax
import jax.numpy as jnp

images = jnp.linspace(0.0, 1.0, 600 * 28 * 28).reshape(600, 28 * 28)


@jax.jit
def batch_mean(weights, indices):
    batch = images[indices]
    return jnp.mean(batch @ weights)


weights = jnp.ones(28 * 28) / (28 * 28)
means = [float(batch_mean(weights, jnp.arange(32) + 32 * k)) for k in range(3)]
print([round(mean, 4) for mean in means])
