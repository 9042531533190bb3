# error: none
# expect: none
# result: [0.0, 1.0, 2.0]

import jax
import jax.numpy as jnp


def direction(g, s_hist, y_hist):
    q, alphas = g, []
    for s, y in zip(reversed(s_hist), reversed(y_hist)):
        a = jnp.vdot(s, q) / jnp.vdot(y, s)
        q = q - a * y
        alphas.append(a)
    if s_hist:
        q = q * jnp.vdot(s_hist[-1], y_hist[-1]) / jnp.vdot(y_hist[-1], y_hist[-1])
    for s, y, a in zip(s_hist, y_hist, reversed(alphas)):
        q = q + s * (a - jnp.vdot(y, q) / jnp.vdot(y, s))
    return -q


f = lambda x: jnp.sum(jnp.cosh(x - jnp.arange(3.0)))
grad = jax.jit(jax.grad(f))
x, s_hist, y_hist = jnp.zeros(3), [], []
g = grad(x)
for _ in range(5):
    d = direction(g, s_hist, y_hist)
    new = x + d * (0.5 if not s_hist else 1.0)
    new_g = grad(new)
    s_hist, y_hist = (s_hist + [new - x])[-4:], (y_hist + [new_g - g])[-4:]
    x, g = new, new_g
print([round(float(v), 2) for v in x])
