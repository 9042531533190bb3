"""Physics of MuJoCo's mjx: a pendulum and a falling ball, batched, and the derivative of a step."""

import json

import jax
import jax.numpy as jnp
import mujoco
from mujoco import mjx

model = mujoco.MjModel.from_xml_string("""
<mujoco><option timestep="0.01"/><worldbody>
<body pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0"/><geom size=".05" pos=".3 0 0"/></body>
<body pos="1 0 1"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body>
</worldbody></mujoco>""")
physics = mjx.put_model(model)
data = mjx.make_data(physics)
step = jax.jit(mjx.step)
found = {}
for _ in range(3):
    data = step(physics, data)
found["positions"] = data.qpos.tolist()
found["velocities"] = data.qvel.tolist()


def moved(velocity):
    return mjx.step(physics, data.replace(qvel=jnp.stack([velocity, 0.0 * velocity]))).qpos[0]


found["batched"] = jax.jit(jax.vmap(moved))(jnp.array([0.0, 1.0, 2.0])).tolist()
found["derivative"] = [float(jax.jit(jax.jacfwd(moved))(jnp.float32(1.0)))]
print(json.dumps(found))
