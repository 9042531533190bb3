import jax
import jax.numpy as jnp

F = jnp.array([[1.0, 0.1], [0.0, 1.0]])
H = jnp.array([[1.0, 0.0]])
Q = 0.01 * jnp.eye(2)
R = jnp.array([[0.25]])


def kalman_step(state, z):
    mean, cov = state
    mean = F @ mean
    cov = F @ cov @ F.T + Q
    S = H @ cov @ H.T + R
    K = cov @ H.T @ jnp.linalg.inv(S)
    mean = mean + K @ (z - H @ mean)
    cov = (jnp.eye(2) - K @ H) @ cov
    return (mean, cov), mean[0]


readings = jnp.array([0.1, 0.35, 0.2, 0.6, 0.55, 0.8, 0.95])
start = (jnp.zeros(2), jnp.eye(2))
(mean, cov), track = jax.lax.scan(kalman_step, start, readings)
print(track.round(3).tolist())
print(mean.round(3).tolist(), round(float(jnp.trace(cov)), 3))
