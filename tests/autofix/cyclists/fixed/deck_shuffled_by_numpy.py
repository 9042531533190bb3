import jax.numpy as jnp
import numpy as np

generator = np.random.default_rng(0)
deck = jnp.arange(10) * 2
deck = generator.permutation(deck)
print(deck.shape, int(deck.sum()))
