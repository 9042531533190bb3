# error: TypeError
# line: 24
# also-line: 44
# depends: -
# fix: vjp_tuple
# fixed-file: fixed/gradient_clip_vjp.py
# result: cost 5.0858 ; grad 0.4447

import jax
import jax.numpy as jnp


@jax.custom_vjp
def clip_gradient(x):
    return x


def clip_fwd(x):
    return x, None


def clip_bwd(_, g):
    norm = jnp.linalg.norm(g)
    return g * jnp.minimum(1.0, 1.0 / (norm + 1e-12))


clip_gradient.defvjp(clip_fwd, clip_bwd)


def rollout(theta, x0, steps=12):
    x = x0
    for _ in range(steps):
        x = clip_gradient(x)
        x = 1.4 * jnp.tanh(theta * x) + 0.1
    return x


def cost(theta, x0):
    return jnp.sum((rollout(theta, x0) - 0.5) ** 2)


theta = jnp.float32(1.8)
x0 = jnp.array([0.3, -0.2, 0.9])
g = jax.grad(cost)(theta, x0)
print("cost", round(float(cost(theta, x0)), 4))
print("grad", round(float(g), 4))
