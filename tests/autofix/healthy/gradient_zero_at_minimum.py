import jax
import jax.numpy as jnp


def rosenbrock(p):
    return (1.0 - p[0]) ** 2 + 100.0 * (p[1] - p[0] ** 2) ** 2


def hinge(margin):
    return jnp.maximum(0.0, 1.0 - margin)


at_minimum = jax.grad(rosenbrock)(jnp.array([1.0, 1.0]))
curvature = jax.hessian(rosenbrock)(jnp.array([1.0, 1.0]))
print(at_minimum.tolist(), bool(jnp.all(jnp.linalg.eigvalsh(curvature) > 0)))

# beyond the margin the hinge is flat
slopes = jax.vmap(jax.grad(hinge))(jnp.array([2.0, 0.5, -1.0]))
print(slopes.tolist())
