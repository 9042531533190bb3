"""Checkpoints of orbax: trees, a training state with its optimizer, and the last of several steps."""

import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp

folder = Path(tempfile.mkdtemp())
found = {}

tree = {"a": jnp.arange(6.0).reshape(2, 3), "b": {"half": jnp.ones(3, jnp.bfloat16), "n": 3}}
with ocp.StandardCheckpointer() as keeper:
    keeper.save(folder / "tree", tree)
    keeper.wait_until_finished()
    shapes = jax.tree.map(ocp.utils.to_shape_dtype_struct, tree)
    restored = keeper.restore(folder / "tree", shapes)
found["dtype"] = [x.dtype.itemsize for x in jax.tree.leaves(restored) if hasattr(x, "dtype")]
found["tree"] = [float(jnp.sum(x)) for x in jax.tree.leaves(restored)]

tx = optax.adam(0.1)
params = {"w": jnp.linspace(-1.0, 1.0, 4)}
state = {"params": params, "opt": tx.init(params), "step": jnp.int32(0)}


@jax.jit
def train(state):
    grads = jax.grad(lambda p: jnp.sum((p["w"] - 0.5) ** 2))(state["params"])
    updates, opt = tx.update(grads, state["opt"])
    params = optax.apply_updates(state["params"], updates)
    return {"params": params, "opt": opt, "step": state["step"] + 1}


options = ocp.CheckpointManagerOptions(max_to_keep=2)
with ocp.CheckpointManager(folder / "run", options=options) as manager:
    for step in range(4):
        state = train(state)
        manager.save(step, args=ocp.args.StandardSave(state))
    manager.wait_until_finished()
    found["kept"] = list(manager.all_steps())
    old = manager.restore(2, args=ocp.args.StandardRestore(state))
found["old"] = [float(x) for x in old["params"]["w"]]
found["same"] = [float(x) for x in train(old)["params"]["w"] - state["params"]["w"]]
print(json.dumps(found))
