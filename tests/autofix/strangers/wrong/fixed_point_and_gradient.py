# One wrong fix of fixed_point_and_gradient.py: lax.while_loop cannot be differentiated in reverse, and the program does so
import jax
import jax.numpy as jnp


def solve(a):
    """The root of x = cos(a x), by iteration."""
    x = jnp.asarray(0.5)
    gap = jnp.asarray(1.0)

    def step(carry):
        new = jnp.cos(a * carry[0])
        return new, jnp.abs(new - carry[0])

    return jax.lax.while_loop(lambda carry: carry[1] > 1e-5, step, (x, gap))[0]


def misfit(a, target):
    return (solve(a) - target) ** 2


slope = jax.grad(misfit)(0.6, 0.8)
print(round(float(slope), 3))
batch = jax.jit(misfit)
print(round(float(batch(0.4, 0.8)), 4))
