# error: TracerArrayConversionError
# expect: TypeError | ValueError
# line: 12
# depends: -
# fix: arguments
# result: (50,) 1 6

import jax
import jax.numpy as jnp

key = jax.random.key(5)
dice = jax.random.randint(key, 1, 7, (50,))
print(dice.shape, int(dice.min()), int(dice.max()))
