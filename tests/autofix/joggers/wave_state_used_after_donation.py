# error: RuntimeError
# line: 24
# also-line: 18
# depends: -
# fix: any
# result: 0.3161 ; 0.4388 ; 0.3183 ; [0.10500000417232513, 0.39500001072883606, 0.4130000174045563, -0.07300000637769699, 0.4130000174045563, 0.39500001072883606, 0.10500000417232513, 0.020000001415610313]

import jax
import jax.numpy as jnp


def leapfrog(u, velocity):
    laplacian = jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)
    velocity = velocity + 0.25 * laplacian
    return u + velocity, velocity


step = jax.jit(leapfrog, donate_argnums=0)

u = jnp.exp(-((jnp.arange(8.0) - 3.0) ** 2))
velocity = jnp.zeros(8)
for _ in range(3):
    new_u, velocity = step(u, velocity)
    change = jnp.max(jnp.abs(new_u - u))
    print(round(float(change), 4))
    u = new_u
print(u.round(3).tolist())
