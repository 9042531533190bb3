# One correct fixed version of overflow_milliseconds.py
import jax
import jax.numpy as jnp


@jax.jit
def latency_percentile(seconds, nanoseconds, q):
    milliseconds = seconds * 1000.0 + nanoseconds // 1_000_000
    return jnp.percentile(milliseconds.astype(jnp.float32), q)


seconds = jnp.array([12, 3_600, 86_400, 2_592_000])
nanoseconds = jnp.array([500_000_000, 250_000_000, 0, 1_000_000])
print(round(float(latency_percentile(seconds, nanoseconds, 100.0)) / 1e6, 2))
