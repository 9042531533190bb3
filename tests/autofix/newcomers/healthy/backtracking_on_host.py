import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(x**4 - 3.0 * x**2 + x)


value_and_grad = jax.jit(jax.value_and_grad(f))


def descend(x, iterations=30):
    for _ in range(iterations):
        fx, g = value_and_grad(x)
        t = 1.0
        while value_and_grad(x - t * g)[0] > fx - 1e-4 * t * (g @ g):
            t *= 0.5
            if t < 1e-6:
                return x
        x = x - t * g
    return x


x = descend(jnp.array([0.5, -0.5]))
print(bool(f(x) < -4.0))
