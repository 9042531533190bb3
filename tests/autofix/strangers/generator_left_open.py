# error: UnexpectedTracerError
# line: 23
# also-line: 24, 29, 30
# depends: x
# fix: return_value
# fixed-file: fixed/generator_left_open.py
# result: [-1.0, 1.5, 3.0] [-2.75, 3.25, 5.625]
# family: 3/leak

import jax
import jax.numpy as jnp


def stages(x):
    """Yields what each stage of the filter gives."""
    for factor in (0.5, 0.25):
        x = x - factor * jnp.roll(x, 1)
        yield x


class Pipeline:
    def first(self, x):
        self.rest = stages(x)
        return next(self.rest)


pipeline = Pipeline()
first = jax.jit(pipeline.first)(jnp.array([1.0, 2.0, 4.0]))
second = next(pipeline.rest)
print(first.tolist(), (second + first).tolist())
