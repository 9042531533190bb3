# error: TypeError
# line: 29
# also-line: 26
# depends: -
# fix: squeeze_axis
# fixed-file: fixed/critic_of_shape_one.py
# result: [-0.6463]
# family: gradient/shape-one

import jax
import jax.numpy as jnp


def critic(params, state, action):
    inputs = jnp.concatenate([state, action])
    hidden = jnp.tanh(params["w1"] @ inputs + params["b1"])
    return params["w2"] @ hidden + params["b2"]


params = {
    "w1": jnp.linspace(-0.6, 0.6, 15).reshape(5, 3),
    "b1": jnp.zeros(5),
    "w2": jnp.array([[0.4, -0.2, 0.1, 0.3, -0.5]]),
    "b2": jnp.array([0.1]),
}
uphill = jax.jit(jax.grad(critic, argnums=2))
state, action = jnp.array([0.2, -0.7]), jnp.array([0.0])
for _ in range(5):
    action = jnp.clip(action + 0.5 * uphill(params, state, action), -1.0, 1.0)
print([round(float(a), 4) for a in action])
