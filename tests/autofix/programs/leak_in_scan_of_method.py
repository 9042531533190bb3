# error: UnexpectedTracerError
# line: 15
# depends: state, u
# fix: return_value
# result: 2.75 [3.0, 5.5] 1.5

import jax
import jax.numpy as jnp

class Sim:
    log = []

    def dynamics(self, state, u):
        state = 0.5 * state + u
        self.log.append(state)
        return state, state * 2

    def run(self, start, controls):
        return jax.lax.scan(self.dynamics, start, controls)

sim = Sim()
end, ys = jax.jit(sim.run)(jnp.float32(1.0), jnp.array([1.0, 2.0]))
print(float(end), [float(v) for v in ys], float(sim.log[0] + 0.0))
