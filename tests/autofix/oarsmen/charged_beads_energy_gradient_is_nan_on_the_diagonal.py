# error: none
# expect: NaNGradientWarning
# line: 16
# depends: -
# fix: any
# result: 1.847 1.661

import jax
import jax.numpy as jnp

KAPPA = 0.8


def pair_distances(x):
    diff = x[:, None, :] - x[None, :, :]
    return jnp.sqrt(jnp.sum(diff**2, axis=-1))


def yukawa(r):
    return jnp.exp(-KAPPA * r) / r


def energy(x, charges):
    r = pair_distances(x)
    off_diagonal = ~jnp.eye(x.shape[0], dtype=bool)
    pairs = jnp.where(off_diagonal, yukawa(r), 0.0)
    trap = 0.5 * jnp.sum(x**2)
    return trap + 0.5 * jnp.sum(charges[:, None] * charges[None, :] * pairs)


@jax.jit
def relax(x, charges):
    def descend(x, _):
        e, g = jax.value_and_grad(energy)(x, charges)
        return x - 0.05 * g, e

    return jax.lax.scan(descend, x, None, length=300)


charges = jnp.array([1.0, 1.0, 1.0])
x, energies = relax(jnp.array([[1.0, 0.0], [-0.4, 0.9], [-0.5, -0.7]]), charges)
print(round(float(energies[0]), 3), round(float(energies[-1]), 3))
