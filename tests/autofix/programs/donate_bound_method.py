# error: UserWarning
# expect: DonationWarning
# line: 23
# depends: batch
# fix: donate_shape
# result: [0.4 0.4 0.4] 1

import jax
import jax.numpy as jnp


class Optimiser:
    def __init__(self):
        self.step = jax.jit(self._step, donate_argnums=(0, 1, 2))

    def _step(self, params, state, batch):
        grads = jax.grad(lambda p: jnp.mean((batch @ p["w"]) ** 2))(params)
        moved = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
        return moved, {"n": state["n"] + 1}


opt = Optimiser()
params, state = opt.step({"w": jnp.ones(3)}, {"n": jnp.array(0)}, jnp.ones((4, 3)))
print(params["w"].round(3), int(state["n"]))
