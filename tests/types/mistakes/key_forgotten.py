"""A sampler gets a shape instead of a key."""

from sagax import random

print(random.normal((2, 3)))  # expect-error
