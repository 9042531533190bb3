import jax
import jax.numpy as jnp


@jax.jit
def momentum(prices, lag):
    extended = jnp.concatenate([prices, prices[-1:]])
    rolled = extended.at[-1].set(2.0 * prices[-1] - prices[-2])
    return rolled[-1] / rolled[-1 - lag] - 1.0


prices = jnp.array([100.0, 101.0, 103.0, 106.0])
print(round(float(momentum(prices, 1)), 4), round(float(momentum(prices, 3)), 4))
