import jax
import jax.numpy as jnp
import numpy as np


def log_joint(theta, x, y):
    slope, intercept, log_sigma = theta
    observed = ~jnp.isnan(y)
    residual = jnp.where(observed, y, 0.0) - slope * x - intercept
    loglik = jnp.sum(jnp.where(observed, -0.5 * (residual / jnp.exp(log_sigma)) ** 2 - log_sigma, 0.0))
    return loglik - 0.5 * jnp.sum(theta**2) / 10.0


def negative_elbo(q, eps, x, y):
    draws = q["mean"] + jnp.exp(q["log_std"]) * eps
    energy = jax.vmap(log_joint, in_axes=(0, None, None))(draws, x, y)
    return -(energy.mean() + q["log_std"].sum())


@jax.jit
def fit(key, x, y):
    q = {"mean": jnp.zeros(3), "log_std": jnp.full(3, -2.0)}

    def step(q, key):
        eps = jax.random.normal(key, (16, 3))
        loss, grads = jax.value_and_grad(negative_elbo)(q, eps, x, y)
        return jax.tree.map(lambda p, g: p - 2e-3 * jnp.clip(g, -20, 20), q, grads), loss

    return jax.lax.scan(step, q, jax.random.split(key, 1500))


x = np.linspace(-1.0, 1.0, 30)
y = 2.0 * x + 0.5 + 0.5 * np.sin(37.0 * x)
y[[3, 11, 12, 26]] = np.nan
q, losses = fit(jax.random.key(1), jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))
print(round(float(q["mean"][0])), bool(jnp.abs(q["mean"][1] - 0.5) < 0.2), bool(losses[-1] < losses[0]))
