import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    def draw():
        return random.normal(random.key(0))

    assert draw() == draw()
