"""A flag that is an argument of a compiled function, in the test of an `if`."""

import sagax
import sagax.numpy as snp


@sagax.jit
def forward(weights, x, training):
    hidden = snp.tanh(x @ weights)
    if training:
        hidden = hidden * 0.5
    return hidden.sum()


x = snp.array([[1.0, 2.0]])
weights = snp.array([[0.1, 0.4], [0.3, -0.2]])
print(forward(weights, x, True), forward(weights, x, False))
