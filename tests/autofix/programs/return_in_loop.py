# error: TracerBoolConversionError
# line: 17
# depends: params, xs
# fix: where
# result: [1.0, 1.5, 3.0, 5.0]

import jax
import jax.numpy as jnp


class Spline:
    def __init__(self, count):
        self.count = count

    def piece(self, x, knots, values):
        for i in range(self.count - 1):
            if x < knots[i + 1]:
                t = (x - knots[i]) / (knots[i + 1] - knots[i])
                return values[i] * (1 - t) + values[i + 1] * t
        return values[-1]


@jax.jit
def interpolate(params, xs):
    spline = Spline(4)
    one = lambda x: spline.piece(x, params["knots"], params["values"])
    return jnp.stack([one(x) for x in xs])


params = {"knots": jnp.array([0.0, 1.0, 2.0, 4.0]), "values": jnp.array([0.0, 2.0, 1.0, 5.0])}
print(interpolate(params, jnp.array([0.5, 1.5, 3.0, 6.0])).tolist())
