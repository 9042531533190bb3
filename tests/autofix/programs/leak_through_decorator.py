# error: UnexpectedTracerError
# line: 20
# depends: params, batch
# fix: return_value
# result: 0.5 1.0
# grade: ran
import functools

import jax
import jax.numpy as jnp

MONITOR = {}


def monitored(name):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*args):
            out = fn(*args)
            MONITOR[name] = out
            return out

        return inner

    return wrap


@monitored("residual")
def residual(params, batch):
    return batch["x"] @ params["w"] - batch["y"]


def loss(params, batch):
    return jnp.mean(residual(params, batch) ** 2)


@jax.jit
def step(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def minimise(step, params, batches):
    for batch in batches:
        params, value = step(params, batch)
    return params, value


batch = {"x": jnp.array([[1.0, 0.0], [1.0, 2.0]]), "y": jnp.array([1.0, 0.0])}
params, value = minimise(step, {"w": jnp.zeros(2)}, [batch])
print(round(float(value), 4), round(float(jnp.abs(MONITOR["residual"]).max()), 4))
