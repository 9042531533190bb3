# error: ValueError
# line: 19
# also-line: 26
# depends: -
# fix: any
# result: True 1.3

import jax
import jax.numpy as jnp


def periodic_kernel(x1, x2, theta):
    d = jnp.pi * jnp.abs(x1 - x2) / jnp.exp(theta["log_period"])
    return jnp.exp(theta["log_amp"] - 2.0 * jnp.sin(d) ** 2 / jnp.exp(theta["log_len"]) ** 2)


def gram(kernel):
    rows = jax.vmap(kernel, in_axes=(None, 0, None))
    return jax.vmap(rows, in_axes=(0, None))


K = gram(periodic_kernel)


def log_marginal(theta, t, y):
    cov = K(t, t, theta) + jnp.exp(theta["log_noise"]) * jnp.eye(t.shape[0])
    chol = jnp.linalg.cholesky(cov)
    alpha = jax.scipy.linalg.cho_solve((chol, True), y)
    return -0.5 * y @ alpha - jnp.log(jnp.diag(chol)).sum() - 0.5 * len(t) * jnp.log(2 * jnp.pi)


t = jnp.linspace(0.0, 4.0, 25)
y = jnp.sin(2 * jnp.pi * t / 1.3) + 0.1 * jnp.cos(17.0 * t)
theta = {"log_period": jnp.log(1.2), "log_amp": 0.0, "log_len": 0.0, "log_noise": -3.0}
fit = jax.jit(jax.value_and_grad(log_marginal))
history = []
for _ in range(100):
    value, slope = fit(theta, t, y)
    theta = jax.tree.map(lambda p, g: p + 5e-5 * g, theta, slope)
    history.append(float(value))
print(history[-1] > history[0], round(float(jnp.exp(theta["log_period"])), 1))
