"""A method keeps a traced value in its object."""
import sagax
import sagax.numpy as jnp


class Normaliser:
    def __init__(self):
        self.seen = {"mean": 0.0}
        self.apply = sagax.jit(self._apply)

    def _apply(self, batch):
        mean = batch.mean(axis=0)
        self.seen["mean"] = 0.9 * self.seen["mean"] + 0.1 * mean  #~ SX0106 Encountered an unexpected tracer
        return batch - mean


normaliser = Normaliser()
normaliser.apply(jnp.ones((4, 2)))
normaliser.seen["mean"] + 1
