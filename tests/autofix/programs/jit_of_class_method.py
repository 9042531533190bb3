# error: TypeError
# line: 30
# depends: self
# fix: static_self
# result: [1.0, 2.0]

"""A method jitted through its class, which maps another one."""
from functools import partial

import jax
import jax.numpy as jnp


class Lens:
    def __init__(self, focal, name="f"):
        self.focal = focal
        self.name = name

    def bend(self, ray, index):
        return ray / self.focal + index

    def trace(self, rays, index=1.0):
        return jax.vmap(partial(self.bend, index=index))(rays)


compiled = jax.jit(Lens.trace)


def render(lens, rays):
    return compiled(lens, rays, index=0.5)


print([round(float(v), 3) for v in render(Lens(2.0), jnp.array([1.0, 3.0]))])
