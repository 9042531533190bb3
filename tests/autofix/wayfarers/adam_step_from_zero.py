# error: none
# expect: NaNWarning | NaNGradientWarning | FloatingPointError
# jax-differs: jax prints nan
# line: 27
# also-line: 25, 26
# depends: -
# fix: count_from_one
# result: [1.005, -2.076]

import jax
import jax.numpy as jnp

B1, B2, LR = 0.9, 0.999, 0.1


def loss(w):
    return jnp.sum((w - jnp.array([1.0, -2.0])) ** 2)


@jax.jit
def adam(w, m, v, t):
    g = jax.grad(loss)(w)
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g**2
    m_hat = m / (1 - B1**t)
    v_hat = v / (1 - B2**t)
    return w - LR * m_hat / (jnp.sqrt(v_hat) + 1e-8), m, v


w, m, v = jnp.zeros(2), jnp.zeros(2), jnp.zeros(2)
for t in range(50):
    w, m, v = adam(w, m, v, t)
print([round(float(x), 3) for x in w])
