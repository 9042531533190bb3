import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    grid = random.split(random.key(0), 6).reshape(2, 3)
    a = random.normal(grid[1, 2])
    b = random.normal(grid.T.ravel()[5])  #~ SX0108 Previously-consumed key
