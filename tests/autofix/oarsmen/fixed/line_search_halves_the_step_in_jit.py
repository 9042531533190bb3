import jax
import jax.numpy as jnp


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def backtracking(f, x, direction, slope, t=1.0, shrink=0.5, c=1e-4):
    """Armijo rule: halve t until the decrease is sufficient."""
    fx = f(x)
    return jax.lax.while_loop(
        lambda t: f(x + t * direction) > fx + c * t * slope, lambda t: t * shrink, t
    )


def make_minimizer(f, damping):
    @jax.jit
    def step(x):
        value, g = jax.value_and_grad(f)(x)
        H = jax.hessian(f)(x) + damping * jnp.eye(x.size)
        direction = -jnp.linalg.solve(H, g)
        t = backtracking(f, x, direction, g @ direction)
        return x + t * direction, value

    return step


step = make_minimizer(rosenbrock, 1e-3)
x = jnp.array([-1.2, 1.0])
for _ in range(40):
    x, value = step(x)
print([round(v, 2) for v in x.tolist()], abs(float(value)) < 1e-4)
