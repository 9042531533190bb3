import sagax
import sagax.numpy as jnp

settings = {"scale": 1.0}


@sagax.jit
def rescaled(points):
    return points * settings["scale"]  #~ SX0402 settings['scale'] has changed since rescaled was compiled


points = jnp.array([1.0, 2.0])
print(rescaled(points))
settings["scale"] = 10.0
print(rescaled(points))
