"""NumPy's function on a traced value."""
import numpy as np

import sagax
import sagax.numpy as jnp


@sagax.jit
def normalise(batch):
    centred = batch - batch.mean(axis=0)
    return centred / np.linalg.norm(centred)  #~ SX0104 The numpy.ndarray conversion method


normalise(jnp.ones((4, 2)))
