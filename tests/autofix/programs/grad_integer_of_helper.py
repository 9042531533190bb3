# error: TypeError
# line: 21
# depends: state
# fix: float_input
# result: [-0.0, -2.0, -4.0]

import jax
import jax.numpy as jnp


def energy(state, k):
    return 0.5 * k * jnp.sum(state["pos"] ** 2) + 0.5 * jnp.sum(state["vel"] ** 2)


def make_state(n):
    return {"pos": jnp.arange(n), "vel": jnp.ones(n)}


class Hamilton:
    def forces(self, state, k):
        g = jax.grad(energy)(state, k)
        return jax.tree.map(lambda a: -a, g)


print(jax.jit(Hamilton().forces)(make_state(3), 2.0)["pos"].tolist())
