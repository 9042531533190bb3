# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the mode in which the model was compiled
# line: 21
# also-line: 29, 30
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_training_flag.py
# result: 0.0 -10.0

import jax
import jax.numpy as jnp


class BatchNorm:
    def __init__(self):
        self.training = True
        self.mean = jnp.array([5.0, 5.0])

    def __call__(self, x):
        center = x.mean(axis=0) if self.training else self.mean
        return x - center


norm = BatchNorm()
apply = jax.jit(lambda x: norm(x).sum())
x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
train_out = float(apply(x))
norm.training = False
eval_out = float(apply(x))
print(train_out, eval_out)
