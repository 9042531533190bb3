from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled_gradient(x, factor):
    return x


def fwd(x, factor):
    return x, x.shape


def bwd(factor, shape, g):
    return (factor * g.reshape(shape),)


scaled_gradient.defvjp(fwd, bwd)


def adversarial(params, x):
    features = jnp.tanh(x @ params["f"])
    reversed_ = scaled_gradient(features, -0.5)
    return jnp.mean((reversed_ @ params["d"]) ** 2)


params = {"f": jnp.eye(2), "d": jnp.array([1.0, -2.0])}
grads = jax.grad(adversarial)(params, jnp.array([[0.1, 0.4], [0.3, -0.2]]))
print(sorted(grads), grads["f"].shape)
