# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the rate that was in the dict at the first call
# line: 25
# also-line: 31
# depends: -
# fix: pass_argument
# fixed-file: fixed/schedule_in_a_dict.py
# result: 0.0 [0.995, -1.989]
# family: silent/stale-dict

import jax
import jax.numpy as jnp

hyper = {"rate": 0.4, "decay": 0.01}


def loss(w):
    return jnp.sum((w - jnp.array([1.0, -2.0])) ** 2)


@jax.jit
def train_step(w):
    slope = jax.grad(loss)(w) + hyper["decay"] * w
    return w - hyper["rate"] * slope


w = jnp.zeros(2)
for step in range(10):
    if step == 5:
        hyper["rate"] = 0.0
    w = train_step(w)
    if step == 4:
        frozen = w
print(float(jnp.max(jnp.abs(w - frozen))), [round(float(v), 3) for v in w])
