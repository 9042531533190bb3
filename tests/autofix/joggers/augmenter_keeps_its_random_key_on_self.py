# error: UnexpectedTracerError
# line: 18
# also-line: 26
# depends: -
# fix: any
# result: 1.0 0.0 ; (4, 8, 8) (2, 8, 8)

import jax
import jax.numpy as jnp


class Augmenter:
    def __init__(self, seed, scale):
        self.key = jax.random.key(seed)
        self.scale = scale

    def __call__(self, images):
        self.key, sub = jax.random.split(self.key)
        noise = jax.random.normal(sub, images.shape)
        return images + self.scale * noise


augmenter = Augmenter(0, 0.01)
augment = jax.jit(augmenter.__call__)
train = augment(jnp.ones((4, 8, 8)))
test = augment(jnp.zeros((2, 8, 8)))
print(round(float(train.mean()), 1), round(abs(float(test.mean())), 1))
print(train.shape, test.shape)
