# error: none
# expect: NaNGradientWarning | FloatingPointError
# line: 20
# depends: positions
# fix: double_where
# result: [[-2.0, -0.0], [2.0, -0.0]]

import jax
import jax.numpy as jnp


class Lattice:
    def __init__(self, box):
        self.box = box

    def separation(self, positions):
        d = positions[:, None] - positions[None, :]
        d = d - self.box * jnp.round(d / self.box)
        r2 = (d ** 2).sum(-1)
        return jnp.where(r2 > 0, 1.0 / jnp.sqrt(r2), 0.0)

    def energy(self, positions, charges):
        inverse = self.separation(positions)
        return 0.5 * jnp.sum(charges[:, None] * charges[None, :] * inverse)


@jax.jit
def forces(params):
    lattice = Lattice(10.0)
    return -jax.grad(lattice.energy)(params["x"], params["q"])


print(jnp.round(forces({"x": jnp.array([[0.0, 0.0], [1.0, 0.0]]), "q": jnp.array([1.0, 2.0])}), 3).tolist())
