# error: none
# expect: SideEffectWarning | UnexpectedTracerError
# jax-differs: jax silently stores a tracer in the object
# line: 25
# depends: logits, batch
# fix: return_value
# fixed-file: fixed/metric_object_total.py
# result: 4 of 6
# family: 2/side-effect-under-jit

from functools import partial

import jax
import jax.numpy as jnp


class Accuracy:
    def __init__(self):
        self.total = 0
        self.count = 0

    @partial(jax.jit, static_argnums=0)
    def update(self, logits, batch):
        hits = (logits.argmax(axis=1) == batch).sum()
        self.total += hits
        return hits


metric = Accuracy()
logits = jnp.array([[0.1, 2.0], [1.0, 0.0], [0.3, 0.2]])
for batch in (jnp.array([1, 0, 1]), jnp.array([1, 1, 0])):
    metric.update(logits, batch)
    metric.count += 3
print(f"{metric.total} of {metric.count}")
