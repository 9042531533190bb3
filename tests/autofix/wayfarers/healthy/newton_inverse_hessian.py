# error: none
# expect: none
# result: [1.0, 1.0] True

import jax
import jax.numpy as jnp


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@jax.jit
def minimize(x):
    def unfinished(state):
        x, g, i = state
        return (jnp.linalg.norm(g) > 1e-4) & (i < 100)

    def body(state):
        x, g, i = state
        x = x - jnp.linalg.solve(jax.hessian(rosenbrock)(x), g)
        return x, jax.grad(rosenbrock)(x), i + 1

    return jax.lax.while_loop(unfinished, body, (x, jax.grad(rosenbrock)(x), 0))


x, g, steps = minimize(jnp.array([-1.0, 1.5]))
print([round(float(v), 3) for v in x], int(steps) < 100)
