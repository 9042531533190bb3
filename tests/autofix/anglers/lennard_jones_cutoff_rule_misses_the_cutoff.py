# error: TypeError
# line: 21
# also-line: 36
# depends: -
# fix: any
# result: -2.241 ; [[-0.8399999737739563, 2.25], [0.8100000023841858, 1.5499999523162842], [0.11999999731779099, -3.75], [-0.09999999403953552, -0.04999999701976776]]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def pair_energy(r, r_cut):
    s6 = r**-6
    return jnp.where(r < r_cut, 4.0 * (s6 * s6 - s6), 0.0)


@pair_energy.defjvp
def pair_energy_jvp(primals, tangents):
    (r,) = primals
    (dr,) = tangents
    slope = 4.0 * (6.0 * r**-7 - 12.0 * r**-13)
    inside = r < 2.5
    return pair_energy(r, 2.5), jnp.where(inside, slope, 0.0) * dr


def total_energy(x):
    i, j = jnp.triu_indices(x.shape[0], 1)
    r = jnp.linalg.norm(x[i] - x[j], axis=-1)
    return jnp.sum(jax.vmap(lambda d: pair_energy(d, 2.5))(r))


x = jnp.array([[0.0, 0.0], [1.1, 0.0], [0.4, 1.2], [3.0, 1.0]])
forces = -jax.grad(total_energy)(x)
print(round(float(total_energy(x)), 3))
print(forces.round(2).tolist())
