# error: none
# expect: none
# result: flipped True ; head same True

"""Domain-adversarial feature: the gradient is reversed on purpose."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def reverse(scale, x):
    return x


def reverse_fwd(scale, x):
    return x, None


def reverse_bwd(scale, _, g):
    return (-scale * g,)


reverse.defvjp(reverse_fwd, reverse_bwd)


def domain_loss(features, w):
    return jnp.mean(jax.nn.softplus(reverse(0.5, features) @ w))


def plain_loss(features, w):
    return jnp.mean(jax.nn.softplus(features @ w))


features = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
w = jnp.array([0.2, -0.4, 0.9])
g_rev = jax.grad(domain_loss)(features, w)
g = jax.grad(plain_loss)(features, w)
print("flipped", bool(jnp.allclose(g_rev, -0.5 * g)))
print("head same", bool(jnp.allclose(jax.grad(domain_loss, 1)(features, w), jax.grad(plain_loss, 1)(features, w))))
