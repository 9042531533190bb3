# One correct fixed version of jit_inside_of_epoch.py
import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 3.0, 24).reshape(6, 4)
y = 0.7 * x - 0.2


@jax.jit
def train_step(w, x, y, rate):
    error = w[0] * x + w[1] - y
    return w - rate * jnp.array([jnp.mean(error * x), jnp.mean(error)])


def run_epoch(w, rate):
    for row in range(x.shape[0]):
        w = train_step(w, x[row], y[row], rate)
    return w


w = jnp.zeros(2)
for epoch in range(12):
    w = run_epoch(w, 0.3)
print([round(float(v), 3) for v in w])
