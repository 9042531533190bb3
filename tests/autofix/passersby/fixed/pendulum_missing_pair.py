# One correct fixed version of pendulum_missing_pair.py
import jax
import jax.numpy as jnp

G, L_ROD, DT = 9.81, 0.7, 0.01


def derivative(theta, omega, damping):
    return omega, -G / L_ROD * jnp.sin(theta) - damping * omega


def rk4(state, damping):
    th, om = state
    k1 = derivative(th, om, damping)
    k2 = derivative(th + 0.5 * DT * k1[0], om + 0.5 * DT * k1[1], damping)
    k3 = derivative(th + 0.5 * DT * k2[0], om + 0.5 * DT * k2[1], damping)
    k4 = derivative(th + DT * k3[0], om + DT * k3[1], damping)
    th = th + DT / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
    om = om + DT / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    return jnp.stack([th, om])


@jax.jit
def swing(start, damping):
    def body(state, _):
        state = rk4(state, damping)
        return state, state

    final, path = jax.lax.scan(body, start, None, length=500)
    return final, path


def energy(state):
    return 0.5 * (L_ROD * state[..., 1]) ** 2 + G * L_ROD * (1 - jnp.cos(state[..., 0]))


final, path = swing(jnp.array([0.6, 0.0, ])[:2], 0.3)
print([round(float(v), 3) for v in final])
print(round(float(energy(path)[-1] / energy(path)[0]), 4))
