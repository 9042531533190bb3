from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames=("u", "v"))
def gray_scott(u, v, f, k):
    lap = lambda a: sum(jnp.roll(a, s, ax) for s in (1, -1) for ax in (0, 1)) - 4 * a
    uvv = u * v * v
    return u + 0.16 * lap(u) - uvv + f * (1 - u), v + 0.08 * lap(v) + uvv - (f + k) * v


u = jnp.ones((16, 16)).at[6:10, 6:10].set(0.5)
v = jnp.zeros((16, 16)).at[6:10, 6:10].set(0.25)
initial_mass = float(u.sum() + v.sum())
for _ in range(25):
    u, v = gray_scott(u=u, v=v, f=0.03, k=0.06)
print(u.shape, bool(jnp.isfinite(v).all()), initial_mass > 0)
