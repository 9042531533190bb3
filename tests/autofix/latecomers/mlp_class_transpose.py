# error: TypeError
# expect: TypeError | ValueError
# line: 27
# depends: params, x
# fix: shape_match
# fixed-file: fixed/mlp_class_transpose.py
# result: (5, 3) 5.0

"""Port of a small torch MLP."""
import jax
import jax.numpy as jnp


class Linear:
    def __init__(self, n_in, n_out):
        self.shape = (n_out, n_in)

    def init(self, key):
        bound = 1.0 / jnp.sqrt(self.shape[1])
        wk, bk = jax.random.split(key)
        return {
            "weight": jax.random.uniform(wk, self.shape, minval=-bound, maxval=bound),
            "bias": jax.random.uniform(bk, (self.shape[0],), minval=-bound, maxval=bound),
        }

    def __call__(self, params, x):
        return x @ params["weight"] + params["bias"]


LAYERS = [Linear(4, 16), Linear(16, 16), Linear(16, 3)]


@jax.jit
def predict(params, x):
    for layer, p in zip(LAYERS[:-1], params[:-1]):
        x = jax.nn.relu(layer(p, x))
    return jax.nn.softmax(LAYERS[-1](params[-1], x))


keys = jax.random.split(jax.random.key(0), len(LAYERS))
params = [layer.init(k) for layer, k in zip(LAYERS, keys)]
probs = predict(params, jnp.ones((5, 4)))
print(probs.shape, round(float(probs.sum()), 3))
