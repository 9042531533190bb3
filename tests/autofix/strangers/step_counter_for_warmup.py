# error: none
# expect: SideEffectWarning | StaleValueWarning
# jax-differs: jax silently counts traces, not steps
# line: 23
# also-line: 32
# depends: -
# fix: carry_value
# fixed-file: fixed/step_counter_for_warmup.py
# result: 6 1.4355
# family: 2/side-effect-under-jit

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
def update(w):
    rate = schedule.next()
    return w - rate * (w - 1.0)


w = jnp.array(5.0)
for _ in range(6):
    w = update(w)
print(schedule.step, round(float(w), 4))
