import jax
import jax.numpy as jnp


@jax.custom_vjp
def clipped_identity(x, limit):
    return x


def forward(x, limit):
    return x, (limit,)


def backward(residuals, cotangent):
    (limit,) = residuals
    return jnp.clip(cotangent, -limit, limit), None


clipped_identity.defvjp(forward, backward)


def energy(x):
    return jnp.sum(clipped_identity(x, 0.5) ** 2)


print(jax.grad(energy)(jnp.array([0.1, -2.0, 3.0])).tolist())
