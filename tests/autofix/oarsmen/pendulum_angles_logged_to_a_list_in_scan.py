# error: UnexpectedTracerError
# line: 16
# depends: -
# fix: any
# result: 200 8.0 0.03

import jax
import jax.numpy as jnp


class Recorder:
    def __init__(self):
        self.samples = []

    def log(self, **values):
        self.samples.append(values)


recorder = Recorder()


def dynamics(state, torque):
    theta, omega = state
    return jnp.array([omega, -9.81 * jnp.sin(theta) - 0.2 * omega + torque])


def rk4(state, torque, dt=0.02):
    k1 = dynamics(state, torque)
    k2 = dynamics(state + 0.5 * dt * k1, torque)
    k3 = dynamics(state + 0.5 * dt * k2, torque)
    k4 = dynamics(state + dt * k3, torque)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def rollout(gains, start, steps=200):
    def tick(state, _):
        torque = -gains @ state
        recorder.log(angle=state[0], torque=torque)
        return rk4(state, torque), None

    final, _ = jax.lax.scan(tick, start, None, length=steps)
    return final


final = rollout(jnp.array([4.0, 2.5]), jnp.array([2.0, 0.0]))
peak = jnp.abs(jnp.stack([s["torque"] for s in recorder.samples])).max()
print(len(recorder.samples), round(float(peak), 2), round(float(jnp.abs(final).max()), 2))
