# error: none
# expect: StaleValueWarning
# jax-differs: jax silently takes the two materials for one, since they compare equal
# line: 31
# also-line: 36
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_object_equal_by_name.py
# result: [210.0, 420.0] [160.0, 320.0]

from functools import partial

import jax
import jax.numpy as jnp


class Material:
    def __init__(self, name, stiffness):
        self.name = name
        self.stiffness = stiffness

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


@partial(jax.jit, static_argnames="material")
def stress(strain, material):
    return material.stiffness * strain


strain = jnp.array([0.001, 0.002])
cold = stress(strain, material=Material("steel", 210e3))
hot = stress(strain, material=Material("steel", 160e3))
print([round(float(v), 1) for v in cold], [round(float(v), 1) for v in hot])
