# error: TypeError
# expect: TypeError | RuntimeError | XlaRuntimeError | JaxRuntimeError | ValueError
# line: 28
# also-line: 33
# depends: -
# fix: callback
# result: 26.0
# grade: ran
"""Statistics of a host function whose declared shapes a method makes, one of them too long."""
import jax
import jax.numpy as jnp
import numpy as np


def host_stats(v):
    return {"mean": np.mean(v, axis=0).astype(np.float32), "diffs": np.diff(v, axis=0).astype(np.float32)}


class Probe:
    def __init__(self, scale):
        self.scale = scale

    def declare(self, v):
        one = jax.ShapeDtypeStruct(v.shape[1:], v.dtype)
        return {"mean": one, "diffs": jax.ShapeDtypeStruct(v.shape, v.dtype)}

    def measure(self, v):
        return jax.pure_callback(host_stats, self.declare(v), v * self.scale)


@jax.jit
def summary(batch):
    stats = Probe(2.0).measure(batch["x"])
    return stats["mean"].sum() + stats["diffs"].sum()


print(round(float(summary({"x": jnp.arange(6.0).reshape(3, 2)})), 4))
