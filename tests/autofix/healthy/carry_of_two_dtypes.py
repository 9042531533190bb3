import jax
import jax.numpy as jnp


@jax.jit
def statistics(samples):
    """Count, mean and second moment by Welford's way."""

    def step(carry, x):
        count, mean, m2 = carry
        count = count + 1
        delta = x - mean
        mean = mean + delta / count
        return (count, mean, m2 + delta * (x - mean)), None

    start = (jnp.zeros((), jnp.int32), jnp.zeros(()), jnp.zeros(()))
    (count, mean, m2), _ = jax.lax.scan(step, start, samples)
    return count, mean, m2 / count


samples = 1000.0 + jnp.sin(jnp.arange(200.0))
count, mean, variance = statistics(samples)
print(int(count), round(float(mean), 2), round(float(variance), 2))
