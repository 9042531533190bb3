import jax
import jax.numpy as jnp

key = jax.random.key(5)
dice = jax.random.randint(key, (50,), 1, 7)
print(dice.shape, int(dice.min()), int(dice.max()))
