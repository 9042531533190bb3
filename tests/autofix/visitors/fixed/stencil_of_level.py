# One correct fixed version of stencil_of_level.py
import jax
import jax.numpy as jnp

# finite-difference weights of rising order, all padded to five points
STENCILS = [
    [0.0, -0.5, 0.0, 0.5, 0.0],
    [1 / 12, -8 / 12, 0.0, 8 / 12, -1 / 12],
]


def derivative(values, level):
    weights = jnp.array(STENCILS)[level]
    return jnp.convolve(values, weights[::-1], mode="valid") / 0.1


@jax.jit
def errors(levels):
    x = jnp.arange(0.0, 1.0, 0.1)

    def worst(level):
        return jnp.max(jnp.abs(derivative(jnp.sin(x), level) - jnp.cos(x)[2:-2]))

    return jax.vmap(worst)(levels)


print([round(float(e), 5) < 0.002 for e in errors(jnp.array([0, 1]))])
