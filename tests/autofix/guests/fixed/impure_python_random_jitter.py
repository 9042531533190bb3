# One correct fixed version of impure_python_random_jitter.py
import jax
import jax.numpy as jnp


def jittered_samples(key, start, stop, count):
    cells = jnp.linspace(start, stop, count, endpoint=False)
    return cells + jax.random.uniform(key) * (stop - start) / count


@jax.jit
def estimate(power, key):
    x = jittered_samples(key, 0.0, 1.0, 16)
    return jnp.mean(x**power)


estimates = [float(estimate(2.0, key)) for key in jax.random.split(jax.random.key(1), 5)]
print(len(set(estimates)) > 1, abs(sum(estimates) / 5 - 1.0 / 3.0) < 0.1)
