import jax
import jax.numpy as jnp


def f(x):
    return jnp.sum(x**4) + jnp.prod(x)


def hvp(f, x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


def hvp_reverse(f, x, v):
    return jax.grad(lambda x: jnp.vdot(jax.grad(f)(x), v))(x)


x = jnp.array([1.0, 2.0, -1.0])
v = jnp.array([0.5, 0.0, 1.0])
full = jax.hessian(f)(x) @ v
print(bool(jnp.allclose(hvp(f, x, v), full)), bool(jnp.allclose(hvp_reverse(f, x, v), full)))
_, tangent = jax.linearize(jax.grad(f), x)
print(tangent(v).tolist() == hvp(f, x, v).tolist())
