# One correct fixed version of step_counter_for_warmup.py
import jax
import jax.numpy as jnp


class Schedule:
    """A rate that grows linearly for the first steps."""

    def __init__(self, peak, warmup):
        self.peak, self.warmup, self.step = peak, warmup, 0

    def next(self):
        self.step += 1
        return self.peak * min(1.0, self.step / self.warmup)


schedule = Schedule(0.4, 4)


@jax.jit
def update(w, rate):
    return w - rate * (w - 1.0)


w = jnp.array(5.0)
for _ in range(6):
    w = update(w, schedule.next())
print(schedule.step, round(float(w), 4))
