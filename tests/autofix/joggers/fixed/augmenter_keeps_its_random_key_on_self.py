import jax
import jax.numpy as jnp


class Augmenter:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, images, sub):
        noise = jax.random.normal(sub, images.shape)
        return images + self.scale * noise


augmenter = Augmenter(0.01)
augment = jax.jit(augmenter.__call__)
train_key, test_key = jax.random.split(jax.random.key(0))
train = augment(jnp.ones((4, 8, 8)), train_key)
test = augment(jnp.zeros((2, 8, 8)), test_key)
print(round(float(train.mean()), 1), round(abs(float(test.mean())), 1))
print(train.shape, test.shape)
