import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    grid = random.split(random.key(0), (2, 3))
    a = sagax.vmap(random.normal)(grid[0])
    b = [random.normal(key) for key in grid.T[:, 1]]
