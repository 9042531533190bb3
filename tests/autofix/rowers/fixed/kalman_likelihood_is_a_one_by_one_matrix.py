import jax
import jax.numpy as jnp

ys = jnp.array([0.1, 0.35, 0.8, 1.0, 1.6, 1.9, 2.1])
F = jnp.array([[1.0, 1.0], [0.0, 1.0]])
H = jnp.array([[1.0, 0.0]])


def negative_log_likelihood(log_q):
    Q = jnp.exp(log_q) * jnp.eye(2)
    R = 0.1 * jnp.eye(1)
    m, P = jnp.zeros((2, 1)), jnp.eye(2)
    nll = 0.0
    for y in ys:
        m, P = F @ m, F @ P @ F.T + Q
        r = y - H @ m
        S = H @ P @ H.T + R
        nll = nll + 0.5 * ((r.T @ jnp.linalg.solve(S, r))[0, 0] + jnp.linalg.slogdet(S)[1])
        K = P @ H.T @ jnp.linalg.inv(S)
        m, P = m + K @ r, P - K @ H @ P
    return nll


value_and_slope = jax.jit(jax.value_and_grad(negative_log_likelihood))
log_q = 0.0
for _ in range(20):
    nll, slope = value_and_slope(log_q)
    log_q = log_q - 0.3 * slope
print(round(float(nll), 2), round(float(log_q), 1))
