# One correct fixed version of bwd_forgets_the_slope.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def leaky(x, slope):
    return jnp.where(x > 0, x, slope * x)


def leaky_fwd(x, slope):
    return leaky(x, slope), (x, slope)


def leaky_bwd(residuals, g):
    x, slope = residuals
    return jnp.where(x > 0, g, slope * g), jnp.sum(jnp.where(x > 0, 0.0, g * x))


leaky.defvjp(leaky_fwd, leaky_bwd)


def loss(x):
    return jnp.sum(leaky(x, 0.1) ** 2)


print([round(float(v), 4) for v in jax.grad(loss)(jnp.array([-1.0, 0.5, 2.0]))])
