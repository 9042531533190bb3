# error: ValueError
# line: 24
# also-line: 29
# depends: -
# fix: device_put
# result: 5.0

"""A table of an object on one device, an offset on another."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp

first, second = jax.devices()


class Lookup:
    def __init__(self, values, device):
        self.values = jax.device_put(values, device)

    def __call__(self, idx, offset):
        return jnp.take(self.values, idx) + offset


def run(lookup, idx):
    offset = jax.device_put(jnp.float32(0.5), first)
    picked = lookup(idx, offset)
    return picked.sum()


print(round(float(run(Lookup(jnp.arange(4.0), second), jnp.array([1, 3]))), 4))
