# One correct fixed version of projection_not_kept.py
import jax
import jax.numpy as jnp

EXPECTED = jnp.array([0.05, 0.08, -0.02])
COVARIANCE = jnp.diag(jnp.array([0.04, 0.09, 0.01]))


def utility(w):
    return w @ EXPECTED - 2.0 * w @ COVARIANCE @ w


@jax.jit
def ascend(w):
    w = w + 0.5 * jax.grad(utility)(w)
    w = jnp.clip(w, 0.0, 1.0)
    return w / w.sum()


w = jnp.full(3, 1.0 / 3.0)
for _ in range(100):
    w = ascend(w)
print([round(float(v), 3) for v in w])
