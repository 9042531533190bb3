# error: TypeError
# line: 28
# depends: bodies
# fix: pytree_register
# result: [2.5, 2.0]

"""Objects of a plain class in a list in a dict."""
import jax
import jax.numpy as jnp


class Body:
    def __init__(self, mass, position):
        self.mass = mass
        self.position = jnp.asarray(position)

    def momentum(self):
        return self.mass * self.position


@jax.jit
def center(bodies, *, shift=0.0):
    total = sum(b.mass for b in bodies["inner"])
    return sum(b.momentum() for b in bodies["inner"]) / total + shift


bodies = {"inner": [Body(1.0, [0.0, 1.0]), Body(3.0, [2.0, 1.0])]}
print([round(float(v), 4) for v in center(bodies, shift=1.0)])
