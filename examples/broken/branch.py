"""An `if` on a traced value, two calls away from the function that is compiled."""

import sagax
import sagax.numpy as snp


def penalty(error, limit):
    if error > limit:
        return limit * (2.0 * error - limit)
    return error**2


@sagax.jit
def loss(weights, data, limit):
    error = snp.abs(data["x"] @ weights - data["y"]).mean()
    return penalty(error, limit)


data = {"x": snp.array([[1.0, 2.0], [3.0, 4.0]]), "y": snp.array([1.0, -1.0])}
print(loss(snp.array([0.5, 0.5]), data, 1.0))
