import jax
import jax.numpy as jnp

GM = 4 * jnp.pi**2  # AU^3 / yr^2
DT = 1e-3


def acceleration(x):
    return -GM * x / jnp.linalg.norm(x) ** 3


def leapfrog(state, _):
    v_half = state["v"] + 0.5 * DT * acceleration(state["x"])
    x = state["x"] + DT * v_half
    v = v_half + 0.5 * DT * acceleration(x)
    return {"x": x, "v": v}, 0.5 * v @ v - GM / jnp.linalg.norm(x)


def integrate(state, steps):
    return jax.lax.scan(leapfrog, state, None, length=steps)


earth = {"x": jnp.array([1.0, 0.0]), "v": 2 * jnp.pi * jnp.array([0.0, 1.0])}
final, energy = integrate(earth, 1000)
drift = float(jnp.abs(energy / energy[0] - 1.0).max())
print([round(abs(c), 1) for c in final["x"].tolist()], drift < 1e-3)
