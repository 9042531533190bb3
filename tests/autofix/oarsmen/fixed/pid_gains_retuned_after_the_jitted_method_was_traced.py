import functools

import jax
import jax.numpy as jnp


class Controller:
    def __init__(self, kp, kd, limit=5.0):
        self.kp, self.kd, self.limit = kp, kd, limit

    def force(self, x, v, target):
        return jnp.clip(self.kp * (target - x) - self.kd * v, -self.limit, self.limit)

    @functools.partial(jax.jit, static_argnums=0)
    def settle(self, x0, target):
        def tick(state, _):
            x, v = state
            v = v + 0.02 * self.force(x, v, target)
            x = x + 0.02 * v
            return (x, v), jnp.abs(x - target)

        _, errors = jax.lax.scan(tick, (x0, jnp.zeros_like(x0)), length=400)
        return errors[200:].max()


start, target = jnp.float32(0.0), jnp.float32(1.0)
errors = []
for kp, kd in [(0.2, 0.1), (2.0, 1.0), (6.0, 4.0)]:
    cart = Controller(kp, kd)
    errors.append(round(float(cart.settle(start, target)), 2))
print(errors)
