# error: UnexpectedTracerError
# line: 15
# depends: w, x
# fix: return_value
# result: 1.0 6.0
# grade: ran
import jax
import jax.numpy as jnp

metrics = {}

def loss_fn(w, x):
    pred = x * w
    loss = (pred ** 2).mean()
    metrics["pred"] = pred
    return loss

@jax.jit
def update(w, x):
    loss, grad = jax.value_and_grad(loss_fn)(w, x)
    return w - 0.1 * grad, loss

w, loss = update(2.0, jnp.array([1.0, 2.0]))
print(round(float(w), 4), round(float(metrics["pred"].sum()), 4))
