# error: none
# expect: StaleValueWarning
# line: 26
# also-line: 36
# depends: -
# fix: any
# result: 16.12 18.2 ; 9.63

from functools import partial

import jax
import jax.numpy as jnp


class PID:
    def __init__(self, kp, ki):
        self.kp = kp
        self.ki = ki

    @partial(jax.jit, static_argnums=0)
    def respond(self, setpoint):
        def tick(state, _):
            temperature, integral = state
            error = setpoint - temperature
            integral = integral + 0.1 * error
            power = self.kp * error + self.ki * integral
            temperature = temperature + 0.1 * (power - 0.5 * temperature)
            return (temperature, integral), temperature

        _, history = jax.lax.scan(tick, (0.0, 0.0), None, length=30)
        return history


heater = PID(1.0, 0.2)
slow = heater.respond(20.0)
heater.kp = 4.0
fast = heater.respond(20.0)
print(round(float(slow[-1]), 2), round(float(fast[-1]), 2))
print(round(float(jnp.abs(fast - slow).max()), 2))
