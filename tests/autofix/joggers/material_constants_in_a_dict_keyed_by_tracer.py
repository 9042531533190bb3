# error: TypeError
# line: 15
# depends: -
# fix: any
# result: [-200.50001525878906, 1.600000023841858, -0.2600000202655792, -2.4000000953674316] ; copper

import jax
import jax.numpy as jnp

CONDUCTIVITY = {0: 401.0, 1: 0.8, 2: 0.026}
NAMES = {0: "copper", 1: "glass", 2: "air"}


def heat_flux(material, gradient):
    return -CONDUCTIVITY[material] * gradient


materials = jnp.array([0, 1, 2, 1])
gradients = jnp.array([0.5, -2.0, 10.0, 3.0])
flux = jax.vmap(heat_flux)(materials, gradients)
print(flux.round(3).tolist())
print(NAMES[int(materials[jnp.argmax(jnp.abs(flux))])])
