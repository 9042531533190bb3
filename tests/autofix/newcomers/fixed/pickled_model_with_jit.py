import pickle

import jax
import jax.numpy as jnp


class Checkpoint:
    def __init__(self, params, predict):
        self.params = params
        self.predict = predict

    def save(self):
        return pickle.dumps({"params": jax.device_get(self.params)})


def make_model(power):
    predict = jax.jit(lambda params, x: params["a"] * x**power)
    return Checkpoint({"a": jnp.array(2.5)}, predict)


model = make_model(3)
blob = model.save()
restored = pickle.loads(blob)
print(float(model.predict(restored["params"], 2.0)))
