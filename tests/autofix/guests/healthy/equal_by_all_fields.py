import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Material:
    name: str
    stiffness: float


@partial(jax.jit, static_argnames="material")
def stress(strain, material):
    if material.name == "rubber":
        return material.stiffness * strain**3
    return material.stiffness * strain


strain = jnp.array([0.5, 1.0])
cold = stress(strain, material=Material("steel", 210.0))
hot = stress(strain, material=Material("steel", 160.0))
soft = stress(strain, material=Material("rubber", 2.0))
print(cold.tolist(), hot.tolist(), soft.tolist())
