# One correct fixed version of schedule_in_a_dict.py
import jax
import jax.numpy as jnp

hyper = {"rate": 0.4, "decay": 0.01}


def loss(w):
    return jnp.sum((w - jnp.array([1.0, -2.0])) ** 2)


@jax.jit
def train_step(w, rate):
    slope = jax.grad(loss)(w) + hyper["decay"] * w
    return w - rate * slope


w = jnp.zeros(2)
for step in range(10):
    if step == 5:
        hyper["rate"] = 0.0
    w = train_step(w, hyper["rate"])
    if step == 4:
        frozen = w
print(float(jnp.max(jnp.abs(w - frozen))), [round(float(v), 3) for v in w])
