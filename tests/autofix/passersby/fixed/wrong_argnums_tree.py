# One correct fixed version of wrong_argnums_tree.py
"""Kepler orbit fit: semi-major axis, eccentricity and phase from noisy positions."""
import jax
import jax.numpy as jnp


def eccentric_anomaly(mean_anomaly, e, iters=12):
    E = mean_anomaly
    for _ in range(iters):
        E = E - (E - e * jnp.sin(E) - mean_anomaly) / (1.0 - e * jnp.cos(E))
    return E


def position(orbit, t):
    e = jax.nn.sigmoid(orbit["e_raw"])
    E = eccentric_anomaly(t + orbit["phase"], e)
    x = orbit["a"] * (jnp.cos(E) - e)
    y = orbit["a"] * jnp.sqrt(1.0 - e ** 2) * jnp.sin(E)
    return jnp.stack([x, y], axis=-1)


def misfit(observed, orbit, t):
    return jnp.mean(jnp.sum((position(orbit, t) - observed) ** 2, axis=-1))


@jax.jit
def improve(orbit, observed, t):
    value, grads = jax.value_and_grad(misfit, argnums=1)(observed, orbit, t)
    orbit = jax.tree.map(lambda p, g: p - 0.1 * g, orbit, grads)
    return orbit, value


t = jnp.linspace(0.0, 6.0, 30)
truth = {"a": jnp.float32(1.3), "e_raw": jnp.float32(-1.0), "phase": jnp.float32(0.2)}
observed = position(truth, t)
orbit = {"a": jnp.float32(1.0), "e_raw": jnp.float32(-1.5), "phase": jnp.float32(0.0)}
for _ in range(300):
    orbit, value = improve(orbit, observed, t)
print({k: round(float(v), 1) for k, v in orbit.items()})
print("fits", bool(value < 1e-3))
