# One correct fixed version of cotangents_one_too_many.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def quantize(x, step):
    return jnp.round(x / step) * step


def fwd(x, step):
    return quantize(x, step), step


def bwd(step, ct):
    return ct, jnp.zeros_like(step)


quantize.defvjp(fwd, bwd)
print(jax.grad(lambda x: quantize(x, 0.5).sum())(jnp.array([0.3, 1.1])).tolist())
