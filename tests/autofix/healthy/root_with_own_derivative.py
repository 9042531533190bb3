from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def root(f, parameter):
    def halve(_, interval):
        low, high = interval
        middle = 0.5 * (low + high)
        right = f(middle, parameter) < 0.0
        return jnp.where(right, middle, low), jnp.where(right, high, middle)

    low, high = jax.lax.fori_loop(0, 40, halve, (jnp.array(0.0), jnp.array(10.0)))
    return 0.5 * (low + high)


def root_fwd(f, parameter):
    x = root(f, parameter)
    return x, (x, parameter)


def root_bwd(f, residuals, g):
    x, parameter = residuals
    by_x, by_parameter = jax.grad(f, argnums=(0, 1))(x, parameter)
    return (-g * by_parameter / by_x,)


root.defvjp(root_fwd, root_bwd)


def cube(x, parameter):
    return x**3 - parameter


value, slope = jax.value_and_grad(root, argnums=1)(cube, 27.0)
print(round(float(value), 3), round(float(slope), 4))
