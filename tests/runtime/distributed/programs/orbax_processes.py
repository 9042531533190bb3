"""Checkpoints of orbax by several processes: number, count, port, folder. Prints the step that it found, and its rows."""

import json
import sys
from pathlib import Path

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

number, count, port, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
jax.config.update("jax_num_cpu_devices", 1)
jax.distributed.initialize(
    f"127.0.0.1:{port}", num_processes=count, process_id=number, initialization_timeout=60
)
mesh = jax.make_mesh((count,), ("data",), axis_types=(AxisType.Auto,))
cut = NamedSharding(mesh, P("data"))
full = np.arange(24, dtype=np.float32).reshape(12, 2)
with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=2)) as manager:
    last = manager.latest_step()
    if last is None:
        state = {"w": jax.make_array_from_callback(full.shape, cut, lambda index: full[index])}
    else:
        like = {"w": jax.ShapeDtypeStruct(full.shape, np.float32, sharding=cut)}
        state = manager.restore(last, args=ocp.args.StandardRestore(like))
    (shard,) = state["w"].addressable_shards
    found = {"step": last, "rows": np.asarray(shard.data).tolist()}
    state = jax.jit(lambda state: {"w": state["w"] + 1})(state)
    manager.save((last or 0) + 1, args=ocp.args.StandardSave(state))
    manager.wait_until_finished()
print(json.dumps(found), flush=True)
