# One correct fixed version of custom_vjp_missing_cotangent.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def quantize(x, step):
    return jnp.round(x / step) * step


def quantize_forward(x, step):
    return quantize(x, step), ()


def quantize_backward(_, cotangent):
    return (cotangent, None)


quantize.defvjp(quantize_forward, quantize_backward)


def loss(weights, inputs, target):
    return jnp.sum((inputs @ quantize(weights, 0.25) - target) ** 2)


inputs = jnp.array([[1.0, 2.0], [3.0, -1.0]])
grads = jax.grad(loss)(jnp.array([0.3, 0.7]), inputs, jnp.array([1.0, 0.0]))
print([round(float(g), 4) for g in grads])
