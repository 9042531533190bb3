from functools import partial

import jax
import jax.numpy as jnp


class Oscillator:
    def __init__(self, frequency, steps):
        self.frequency = frequency
        self.steps = steps
        self.calls = 0

    @partial(jax.jit, static_argnums=0)
    def _advance(self, state, dt):
        def step(_, qp):
            q, p = qp
            p = p - dt * self.frequency**2 * q
            return q + dt * p, p

        return jax.lax.fori_loop(0, self.steps, step, state)

    def advance(self, state, dt):
        self.calls += 1
        return self._advance(state, dt)


oscillator = Oscillator(2.0, 50)
state = (jnp.array(1.0), jnp.array(0.0))
for dt in (0.01, 0.02):
    state = oscillator.advance(state, dt)
print(oscillator.calls, round(float(state[0]), 3))
