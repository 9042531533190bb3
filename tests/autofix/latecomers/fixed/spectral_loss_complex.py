# One correct fixed version of spectral_loss_complex.py
import jax
import jax.numpy as jnp


def synth(params, t):
    waves = params["amp"][:, None] * jnp.sin(
        2 * jnp.pi * params["freq"][:, None] * t + params["phase"][:, None])
    return waves.sum(axis=0)


def spectral_distance(signal, reference):
    diff = jnp.fft.rfft(signal) - jnp.fft.rfft(reference)
    return jnp.mean(jnp.abs(diff) ** 2)


def objective(params, t, reference):
    return spectral_distance(synth(params, t), reference)


t = jnp.arange(64) / 64.0
truth = {"amp": jnp.array([1.0, 0.5]), "freq": jnp.array([3.0, 7.0]), "phase": jnp.zeros(2)}
guess = {"amp": jnp.array([0.6, 0.6]), "freq": jnp.array([3.0, 7.0]), "phase": jnp.zeros(2)}
reference = synth(truth, t)

grad_fn = jax.jit(jax.grad(objective))
for _ in range(40):
    grads = grad_fn(guess, t, reference)
    guess = {**guess, "amp": guess["amp"] - 0.01 * grads["amp"]}
print([round(float(a), 2) for a in guess["amp"]])
