# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles again in each epoch
# line: 25
# depends: -
# fix: hoist_jit
# fixed-file: fixed/jit_inside_of_epoch.py
# result: [0.696, -0.189]
# family: silent/recompilation-inner-jit

import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 3.0, 24).reshape(6, 4)
y = 0.7 * x - 0.2


def run_epoch(w, rate):
    @jax.jit
    def train_step(w, x, y):
        error = w[0] * x + w[1] - y
        return w - rate * jnp.array([jnp.mean(error * x), jnp.mean(error)])

    for row in range(x.shape[0]):
        w = train_step(w, x[row], y[row])
    return w


w = jnp.zeros(2)
for epoch in range(12):
    w = run_epoch(w, 0.3)
print([round(float(v), 3) for v in w])
