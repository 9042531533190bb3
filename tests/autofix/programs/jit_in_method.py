# error: none
# expect: RecompilationWarning
# line: 22
# also-line: 21
# depends: -
# fix: hoist_jit
# result: 0.9351 0.2724

"""A filter whose update is compiled anew for each observation."""
import jax
import jax.numpy as jnp


class Kalman:
    def __init__(self, noise):
        self.noise = noise
        self.mean = jnp.zeros(())
        self.variance = jnp.ones(())

    def observe(self, value):
        update = jax.jit(lambda m, v, z: (m + v / (v + 1.0) * (z - m), v / (v + 1.0)))
        self.mean, self.variance = update(self.mean, self.variance + self.noise, value)
        return self.mean


kalman = Kalman(0.1)
for value in [1.0, 1.2, 0.8, 1.1, 0.9, 1.0, 1.3, 0.7]:
    kalman.observe(value)
print(round(float(kalman.mean), 4), round(float(kalman.variance), 4))
