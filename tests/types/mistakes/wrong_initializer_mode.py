"""A mode of an initializer that does not exist."""

from sagax import nn, random

init = nn.initializers.variance_scaling(1.0, "fan_inn", "normal")  # expect-error
print(init(random.key(0), (2, 3)))
