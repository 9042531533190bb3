from sagax import random

key = random.key(0)
x = random.normal(key), random.normal(key)
