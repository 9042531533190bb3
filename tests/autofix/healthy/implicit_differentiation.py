from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f, a):
    def unfinished(pair):
        previous, x = pair
        return jnp.abs(previous - x) > 1e-6

    def body(pair):
        _, x = pair
        return x, f(a, x)

    start = jnp.zeros_like(a)
    return jax.lax.while_loop(unfinished, body, (start, f(a, start)))[1]


def forward(f, a):
    x = fixed_point(f, a)
    return x, (a, x)


def backward(f, saved, g):
    a, x = saved
    slope = jax.grad(f, argnums=1)(a, x)
    _, pull = jax.vjp(lambda a: f(a, x), a)
    return pull(g / (1.0 - slope))


fixed_point.defvjp(forward, backward)


def f(a, x):
    return jnp.cos(a * x)


slope = jax.jit(jax.grad(lambda a: fixed_point(f, a)))(0.7)
exact = (fixed_point(f, 0.701) - fixed_point(f, 0.699)) / 0.002
print(bool(jnp.abs(slope - exact) < 1e-2))
