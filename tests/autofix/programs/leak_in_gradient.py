# error: UnexpectedTracerError
# line: 15
# depends: w, x
# fix: return_value
# result: 18.0
# grade: ran
import jax
import jax.numpy as jnp

last_error = None

def loss(w, x):
    global last_error
    err = w * x - 1.0
    last_error = err
    return (err ** 2).sum()

g = jax.grad(loss)(2.0, jnp.array([1.0, 2.0]))
print(round(float(g + last_error.sum()), 4))
