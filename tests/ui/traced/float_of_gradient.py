"""float() of a value that is differentiated, without jit."""
import sagax


def loss(params):
    scale = float(params["scale"])  #~ SX0101 The problem arose with the `float` function
    return scale * params["w"] ** 2


sagax.grad(loss)({"scale": 2.0, "w": 3.0})
