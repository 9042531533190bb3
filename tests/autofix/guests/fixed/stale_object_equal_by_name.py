# One correct fixed version of stale_object_equal_by_name.py
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


@jax.jit
def hooke(strain, stiffness):
    return stiffness * strain


def stress(strain, material):
    return hooke(strain, material.stiffness)


strain = jnp.array([0.001, 0.002])
cold = stress(strain, material=Material("steel", 210e3))
hot = stress(strain, material=Material("steel", 160e3))
print([round(float(v), 1) for v in cold], [round(float(v), 1) for v in hot])
