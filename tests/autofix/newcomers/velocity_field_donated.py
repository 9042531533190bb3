# error: RuntimeError
# expect: RuntimeError | DeletedArrayError | ValueError | DonationWarning
# line: 25
# depends: -
# fix: copy_before_donate
# result: 0.783 5.013

import jax
import jax.numpy as jnp


class Advection:
    def __init__(self, n, courant):
        self._advance = jax.jit(self._upwind, donate_argnums=0)
        self.c = courant
        self.u = jnp.exp(-((jnp.arange(n) - n / 4) ** 2) / 8.0)

    def _upwind(self, u):
        return u - self.c * (u - jnp.roll(u, 1))

    def run(self, steps):
        before = self.u
        for _ in range(steps):
            self.u = self._advance(self.u)
        return jnp.max(jnp.abs(self.u - before))


flow = Advection(32, 0.5)
change = flow.run(8)
print(round(float(change), 3), round(float(flow.u.sum()), 3))
