# error: TypeError
# expect: TypeError | ValueError
# line: 25
# also-line: 20
# depends: -
# fix: return_value
# fixed-file: fixed/unpack_scalar_metrics.py
# result: 0.2884 1.0

import jax
import jax.numpy as jnp


@jax.jit
def eval_step(params, batch):
    logits = batch["x"] @ params
    hit = jnp.argmax(logits, axis=-1) == batch["y"]
    loss = -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(2), batch["y"]])
    metrics = {"loss": loss, "accuracy": hit.mean()}
    return metrics["loss"]


params = jnp.array([[1.0, 0.0], [0.0, 2.0]])
batch = {"x": jnp.array([[1.0, 0.2], [0.1, 1.0]]), "y": jnp.array([0, 1])}
loss, accuracy = eval_step(params, batch)
print(round(float(loss), 4), float(accuracy))
