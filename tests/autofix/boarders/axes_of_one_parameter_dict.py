# error: TypeError
# line: 23
# also-line: 22 | 24
# depends: -
# fix: any
# result: [0.05000000074505806, 0.2850000262260437, 0.6030000448226929]

import jax
import jax.numpy as jnp


def predict(params):
    hidden = jnp.tanh(params["w"] @ params["x"] + params["b"])
    return hidden.mean()


members = {
    "w": jnp.arange(12.0).reshape(3, 2, 2) / 10.0,
    "b": jnp.array([[0.1, 0.0], [0.0, 0.2], [0.3, 0.3]]),
    "x": jnp.array([1.0, -0.5]),
}
axes = {"w": 0, "b": 0, "x": None}
ensemble = jax.jit(jax.vmap(predict, in_axes=axes))
scores = ensemble(members)
print(scores.round(3).tolist())
