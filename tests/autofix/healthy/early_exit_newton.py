import jax
import jax.numpy as jnp


@jax.jit
def newton_step(x):
    value, slope = jax.value_and_grad(lambda x: x**3 - 2.0)(x)
    new = x - value / slope
    return new, jnp.abs(new - x)


def cube_root_of_two(tolerance=1e-6, max_steps=50):
    x = jnp.array(1.0)
    for step in range(max_steps):
        x, change = newton_step(x)
        if change < tolerance:
            return x, step + 1
    raise RuntimeError("did not converge")


root, steps = cube_root_of_two()
print(round(float(root), 5), steps < 10)
