# error: RuntimeError
# expect: RuntimeError | DonationWarning
# line: 24
# depends: -
# fix: any
# result: 4 [-1.0263999700546265, -0.7698000073432922, -0.5131999850273132, -0.2565999925136566]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0,))
def update(velocity, slope):
    return 0.9 * velocity - 0.1 * slope


velocity = jnp.zeros(4)
position = jnp.array([4.0, 3.0, 2.0, 1.0])
turns = 0
for _ in range(6):
    fresh = update(velocity, position)
    turns += int(jnp.sum(jnp.sign(fresh) != jnp.sign(velocity)))
    position, velocity = position + fresh, fresh
print(turns, position.round(4).tolist())
