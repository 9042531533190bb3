# One wrong fix of step_counter_for_warmup.py: the schedule moves on, but every update has the first rate
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
rate = schedule.next()
for _ in range(6):
    w = update(w, rate)
print(schedule.step, round(float(w), 4))
