# error: TypeError
# expect: TypeError | ValueError
# line: 24
# also-line: 30, 36
# depends: -
# fix: match_shape
# result: [-1.018, -0.0, 0.945]

import jax
import jax.numpy as jnp


@jax.custom_jvp
def soft_threshold(x, lam):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - lam, 0.0)


@soft_threshold.defjvp
def soft_threshold_jvp(primals, tangents):
    x, lam = primals
    dx, dlam = tangents
    active = jnp.abs(x) > lam
    out = soft_threshold(x, lam)
    return out, jnp.vdot(active, dx) - jnp.vdot(active * jnp.sign(x), dlam * jnp.ones_like(x))


def ista(a, b, lam, n=100, step=0.1):
    x = jnp.zeros(a.shape[1])
    for _ in range(n):
        x = soft_threshold(x - step * a.T @ (a @ x - b), step * lam)
    return x


a = jnp.array([[1.0, 0.2, 0.0], [0.1, 1.0, 0.3], [0.0, 0.4, 1.0]])
b = jnp.array([2.0, 0.05, -1.0])
sensitivity = jax.jacfwd(lambda lam: ista(a, b, lam))(0.1)
print([round(s, 3) for s in sensitivity.tolist()])
