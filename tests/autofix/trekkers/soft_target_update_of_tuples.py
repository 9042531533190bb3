# error: TypeError
# line: 12
# depends: -
# fix: any
# result: [0.10000000149011612, 0.10000000149011612]

import jax
import jax.numpy as jnp


def soft_update(target, online, tau=0.1):
    return (1 - tau) * target + tau * online


online = (jnp.ones((2, 2)), jnp.ones(2))
target = (jnp.zeros((2, 2)), jnp.zeros(2))
target = soft_update(target, online)
print(target[1].round(3).tolist())
