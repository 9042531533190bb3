import sagax
import sagax.numpy as jnp


def decay(params, rate):
    return sagax.tree.map(lambda p: p * (1.0 - rate), params)


params = {"w": jnp.ones(2)}
decay(params, 0.5)  #~ SX0410 the result of `decay(params, 0.5)` is thrown away
print(params["w"])
