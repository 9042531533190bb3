import jax
import jax.numpy as jnp


@jax.jit
def energy(x):
    return jnp.sum(jnp.cosh(x - jnp.array([1.0, 2.0])))


@jax.jit
def direction(x):
    return -jax.grad(energy)(x)


x = jnp.array([4.0, -3.0])
for _ in range(12):
    step, d = 1.0, direction(x)
    while energy(x + step * d) > energy(x) - 1e-4 * step * float(d @ d):
        step *= 0.5
        if step < 1e-6:
            break
    x = x + step * d
print([round(float(v), 2) for v in x])
