# error: JaxRuntimeError
# line: 16
# depends: -
# fix: copy_before_donate
# result: [2. 2. 2.] [0. 0. 0.]

import jax
import jax.numpy as jnp


class Mixer:
    def __init__(self):
        self.mix = jax.jit(lambda a, b: (a + b, a - b), donate_argnums=(0, 1))

    def run(self, x):
        return self.mix(x, x)


print(*Mixer().run(jnp.ones(3)))
