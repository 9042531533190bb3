import jax
import jax.numpy as jnp


@jax.jit
def summarize(x, log_weights):
    evidence = jax.nn.logsumexp(log_weights)
    weights = jnp.exp(log_weights - evidence)
    mean = jnp.sum(weights * x)
    variance = jnp.sum(weights * (x - mean) ** 2)
    return evidence, mean, variance, jnp.log1p(jnp.exp(-jnp.abs(x))).sum()


x = 10000.0 + jnp.array([0.0, 1.0, 2.0])
print([round(float(v), 3) for v in summarize(x, jnp.array([-500.0, -500.0, -501.0]))])
