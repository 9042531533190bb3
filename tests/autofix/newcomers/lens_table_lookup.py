# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives a slope of zero
# line: 23
# also-line: 22, 30
# depends: -
# fix: smooth_surrogate
# result: [0.82, -0.12, -0.12]

import jax
import jax.numpy as jnp


class RadialTable:
    """deflection angle tabulated on a regular grid of radii"""

    def __init__(self, r_max, n, profile):
        self.dr = r_max / (n - 1)
        self.values = profile(self.dr * jnp.arange(n))

    def __call__(self, r):
        bin_ = jnp.floor(r / self.dr).astype(jnp.int32)
        return self.values[bin_]


table = RadialTable(4.0, 401, lambda r: r / (1.0 + r**2))


def deflection_slope(theta):
    return jax.grad(table)(theta)


slopes = jax.vmap(deflection_slope)(jnp.array([0.255, 1.505, 2.005]))
print([round(s, 2) for s in slopes.tolist()])
