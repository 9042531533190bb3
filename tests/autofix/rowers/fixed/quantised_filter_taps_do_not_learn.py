import jax
import jax.numpy as jnp

SCALE = 16.0
signal = jnp.sin(jnp.arange(64.0) * 0.7) + 0.3 * jnp.cos(jnp.arange(64.0) * 2.1)
target = jnp.convolve(signal, jnp.array([0.25, 0.5, -0.125]), mode="same")


def quantise(taps):
    rounded = jnp.round(taps * SCALE) / SCALE
    return taps + jax.lax.stop_gradient(rounded - taps)


def loss_fn(taps):
    filtered = jnp.convolve(signal, quantise(taps), mode="same")
    return jnp.mean((filtered - target) ** 2)


@jax.jit
def descend(taps):
    def step(taps, _):
        loss, grad = jax.value_and_grad(loss_fn)(taps)
        return taps - 0.1 * grad, loss

    return jax.lax.scan(step, taps, None, length=300)


taps, losses = descend(jnp.zeros(3))
print(quantise(taps).tolist())
print(round(float(losses[0]), 3), round(float(losses[-1]), 3))
