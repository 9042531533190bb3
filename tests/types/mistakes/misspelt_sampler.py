"""A misspelt sampler."""

from sagax import random

key = random.key(0)
print(random.norml(key, (3,)))  # expect-error
