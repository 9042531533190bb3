# error: AttributeError
# expect: AttributeError | PicklingError | TypeError
# line: 20
# depends: -
# fix: pickle_arrays
# result: 20.0

import pickle

import jax
import jax.numpy as jnp


class Checkpoint:
    def __init__(self, params, predict):
        self.params = params
        self.predict = predict

    def save(self):
        return pickle.dumps(self.__dict__)


def make_model(power):
    predict = jax.jit(lambda params, x: params["a"] * x**power)
    return Checkpoint({"a": jnp.array(2.5)}, predict)


model = make_model(3)
blob = model.save()
restored = pickle.loads(blob)
print(float(model.predict(restored["params"], 2.0)))
