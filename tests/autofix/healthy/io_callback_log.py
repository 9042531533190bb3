import jax
import jax.numpy as jnp
from jax.experimental import io_callback

records = []


def record(step, value):
    records.append((int(step), float(value)))


@jax.jit
def train(w, x):
    def step(w, i):
        value, grad = jax.value_and_grad(lambda w: jnp.sum((w - x) ** 2))(w)
        io_callback(record, None, i, value, ordered=True)
        return w - 0.1 * grad, value

    return jax.lax.scan(step, w, jnp.arange(10))


w, values = train(jnp.zeros(2), jnp.array([1.0, -1.0]))
jax.effects_barrier()
print(len(records), records[0], bool(values[-1] < values[0]))
