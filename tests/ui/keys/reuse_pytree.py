import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    state = {"params": key, "rngs": [key]}

    @sagax.jit
    def start(state):
        a = random.normal(state["params"])
        return a * random.normal(state["rngs"][0])  #~ SX0108 Previously-consumed key

    start(state)
