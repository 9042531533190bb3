import jax
import jax.numpy as jnp


def kalman(state, observed):
    mean, variance = state
    predicted = variance + 0.1
    gain = predicted / (predicted + 0.5)
    mean = mean + gain * (observed - mean)
    variance = (1.0 - gain) * predicted
    return (mean, variance), mean


@jax.jit
def track(observations):
    start = (observations[0], jnp.array(1.0))
    last, path = jax.lax.scan(kalman, start, observations)
    return path


print(track(jnp.array([1.0, 1.2, 0.9, 3.0, 3.1])).round(3).tolist())
