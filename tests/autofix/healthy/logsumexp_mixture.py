import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp


def log_density(params, x):
    z = (x[:, None] - params["mean"]) / jnp.exp(params["log_scale"])
    parts = jax.nn.log_softmax(params["logits"]) - 0.5 * z**2 - params["log_scale"]
    return logsumexp(parts, axis=1)


@jax.jit
def step(params, x):
    grads = jax.grad(lambda p: -log_density(p, x).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


x = jnp.concatenate([jnp.linspace(-3.0, -2.0, 20), jnp.linspace(2.0, 3.0, 40)])
params = {"mean": jnp.array([-1.0, 1.0]), "log_scale": jnp.zeros(2), "logits": jnp.zeros(2)}
for _ in range(150):
    params = step(params, x)
print([round(float(m), 1) for m in params["mean"]])
print([round(float(p), 2) for p in jax.nn.softmax(params["logits"])])
