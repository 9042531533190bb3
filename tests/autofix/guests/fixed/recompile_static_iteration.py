# One correct fixed version of recompile_static_iteration.py
import jax
import jax.numpy as jnp


@jax.jit
def adam_step(params, moments, grads, iteration):
    m = 0.9 * moments[0] + 0.1 * grads
    v = 0.999 * moments[1] + 0.001 * grads**2
    m_hat = m / (1.0 - 0.9**iteration)
    v_hat = v / (1.0 - 0.999**iteration)
    return params - 0.1 * m_hat / (jnp.sqrt(v_hat) + 1e-8), (m, v)


params = jnp.array([1.0, -2.0])
moments = (jnp.zeros(2), jnp.zeros(2))
for iteration in range(1, 16):
    grads = jax.grad(lambda p: jnp.sum(p**2))(params)
    params, moments = adam_step(params, moments, grads, iteration=iteration)
print([round(float(p), 3) for p in params])
