# One correct fixed version of iteration_number_static.py
import jax
import jax.numpy as jnp


@jax.jit
def adam_step(w, m, v, iteration):
    g = 2.0 * (w - jnp.array([3.0, -1.0]))
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
    m_hat, v_hat = m / (1 - 0.9**iteration), v / (1 - 0.99**iteration)
    return w - 0.3 * m_hat / (jnp.sqrt(v_hat) + 1e-8), m, v


w, m, v = jnp.zeros(2), jnp.zeros(2), jnp.zeros(2)
for iteration in range(1, 41):
    w, m, v = adam_step(w, m, v, iteration)
print([round(float(x), 1) for x in w], iteration)
