import jax
import jax.numpy as jnp
import numpy as np

rest_wave = np.linspace(3000.0, 8000.0, 400)
rest_flux = (
    1.0
    + 0.8 * np.exp(-0.5 * ((rest_wave - 5007.0) / 40.0) ** 2)
    + 0.5 * np.exp(-0.5 * ((rest_wave - 6563.0) / 40.0) ** 2)
)
obs_wave = np.linspace(5000.0, 8000.0, 150)


def template(z):
    return jnp.interp(obs_wave / (1.0 + z), rest_wave, rest_flux)


def model(params):
    continuum = params["amp"] * (obs_wave / 6500.0) ** params["slope"]
    return continuum * template(params["z"])


def chi2(params, flux, ivar):
    return jnp.sum(ivar * (flux - model(params)) ** 2)


truth = {"amp": 1.0, "slope": -0.5, "z": 0.10}
flux = jnp.asarray(model(truth))
ivar = jnp.full(obs_wave.shape, 100.0)
params = {"amp": jnp.float32(0.9), "slope": jnp.float32(-0.3), "z": jnp.float32(0.101)}
rates = {"amp": 2e-5, "slope": 2e-4, "z": 2e-8}
step = jax.jit(jax.value_and_grad(chi2))
for _ in range(200):
    value, grads = step(params, flux, ivar)
    params = jax.tree.map(lambda p, g, r: p - r * g, params, grads, rates)
print({k: round(float(v), 2) for k, v in params.items()})
