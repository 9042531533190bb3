import jax
import jax.numpy as jnp


def energy(spins):
    right = jnp.roll(spins, 1, axis=1)
    down = jnp.roll(spins, 1, axis=0)
    return -jnp.sum(spins * (right + down))


class Ising:
    def __init__(self, side):
        self.spins = jnp.ones((side, side))

    def flip(self, i, j):
        self.spins = self.spins.at[i, j].multiply(-1)

    def magnetization(self):
        return float(self.spins.mean())


model = Ising(4)
for site in [(0, 1), (2, 2), (3, 0)]:
    model.flip(*site)
print(model.magnetization(), float(energy(model.spins)))
