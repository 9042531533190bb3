# error: ValueError
# line: 19
# also-line: 22
# depends: -
# fix: axis_name
# result: 2.0

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class DataParallel:
    def __init__(self):
        self.mesh = Mesh(np.array(jax.devices()[:1]), axis_names=("data",))

    def spec(self, *names):
        return NamedSharding(self.mesh, PartitionSpec(*names))

    def shard(self, batch):
        return jax.tree.map(lambda x: jax.device_put(x, self.spec("batch")), batch)


dp = DataParallel()
batch = {"image": jnp.ones((4, 8, 8)), "label": jnp.array([0, 2, 1, 1])}
sharded = dp.shard(batch)
mean = jax.jit(lambda b: b["image"].mean() + b["label"].mean())(sharded)
print(float(mean))
