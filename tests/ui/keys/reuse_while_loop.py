import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key = random.key(0)

    def body(state):
        i, x = state
        return i + 1, x + random.normal(key)  #~ SX0108 Previously-consumed key

    lax.while_loop(lambda s: s[0] < 3, body, (0, 0.0))
