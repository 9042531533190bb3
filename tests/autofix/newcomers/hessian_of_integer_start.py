# error: TypeError
# line: 19
# depends: -
# fix: float_input
# result: [3.000000238418579, 2.0]

import jax
import jax.numpy as jnp


def himmelblau(p):
    x, y = p
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def newton(f, start, n=15):
    p = jnp.array(start)
    for _ in range(n):
        g, h = jax.grad(f)(p), jax.hessian(f)(p)
        p = p - jnp.linalg.solve(h, g)
    return p


print(newton(himmelblau, (4, 3)).round(3).tolist())
