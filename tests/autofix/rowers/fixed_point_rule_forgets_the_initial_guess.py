# error: TypeError
# line: 34
# depends: -
# fix: any
# result: [0.35500001907348633, 0.6650000214576721] ; [[0.39400002360343933, 0.7380000352859497], [0.17000000178813934, 0.3190000057220459]]

import jax
import jax.numpy as jnp


def residual_map(theta, z):
    return jnp.tanh(theta @ z + 0.5)


@jax.custom_vjp
def fixed_point(theta, z0):
    def body(_, z):
        return residual_map(theta, z)

    return jax.lax.fori_loop(0, 60, body, z0)


def forward(theta, z0):
    z = fixed_point(theta, z0)
    return z, (theta, z)


def backward(res, z_bar):
    theta, z = res
    _, pull_z = jax.vjp(lambda z: residual_map(theta, z), z)
    w = jax.lax.fori_loop(0, 60, lambda _, w: z_bar + pull_z(w)[0], z_bar)
    _, pull_theta = jax.vjp(lambda theta: residual_map(theta, z), theta)
    (theta_bar,) = pull_theta(w)
    return (theta_bar,)


fixed_point.defvjp(forward, backward)
theta = jnp.array([[0.2, -0.3], [0.1, 0.4]])
z0 = jnp.zeros(2)
print(fixed_point(theta, z0).round(3).tolist())
grad = jax.grad(lambda theta: fixed_point(theta, z0).sum())(theta)
print(grad.round(3).tolist())
