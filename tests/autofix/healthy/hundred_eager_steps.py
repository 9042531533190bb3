import jax
import jax.numpy as jnp


def rosenbrock(x):
    return (1.0 - x[0]) ** 2 + 5.0 * (x[1] - x[0] ** 2) ** 2


x = jnp.array([-0.5, 0.5])
slope = jax.grad(rosenbrock)
for _ in range(100):
    x = x - 0.02 * slope(x)
print(float(rosenbrock(x)) < 0.5)
