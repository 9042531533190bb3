# error: TypeError
# expect: TypeError | TracerFormatError | ConcretizationTypeError
# line: 19
# also-line: 25
# depends: x
# fix: debug_print
# fixed-file: fixed/progress_format.py
# result: [1.0, 1.0, 1.0]

import jax
import jax.numpy as jnp


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def describe(i, value):
    return f"iter {i}: f={value:.4f}"


@jax.jit
def newton(x):
    value = rosenbrock(x)
    print(describe(0, value))
    g = jax.grad(rosenbrock)(x)
    h = jax.hessian(rosenbrock)(x)
    return x - jnp.linalg.solve(h + 1e-3 * jnp.eye(x.size), g)


x = jnp.array([-0.5, 0.5, 0.8])
for _ in range(30):
    x = newton(x)
jax.effects_barrier()
print([round(float(v), 3) for v in x])
