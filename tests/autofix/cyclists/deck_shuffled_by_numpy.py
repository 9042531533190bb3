# error: TypeError
# expect: TypeError | ValueError
# line: 13
# depends: -
# fix: inplace
# result: (10,) 90

import jax.numpy as jnp
import numpy as np

generator = np.random.default_rng(0)
deck = jnp.arange(10) * 2
generator.shuffle(deck)
print(deck.shape, int(deck.sum()))
