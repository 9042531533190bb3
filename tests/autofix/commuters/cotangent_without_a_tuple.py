# error: TypeError
# line: 23
# depends: -
# fix: any
# result: [-0.9949999451637268, -0.9805999994277954, 0.0, 0.9805999994277954, 0.9949999451637268]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def soft_abs(x):
    return jnp.sqrt(x**2 + 0.01)


def soft_abs_forward(x):
    y = soft_abs(x)
    return y, (x, y)


def soft_abs_backward(saved, cotangent):
    x, y = saved
    return cotangent * x / y


soft_abs.defvjp(soft_abs_forward, soft_abs_backward)
xs = jnp.linspace(-1.0, 1.0, 5)
slopes = jax.grad(lambda x: soft_abs(x).sum())(xs)
print(slopes.round(4).tolist())
