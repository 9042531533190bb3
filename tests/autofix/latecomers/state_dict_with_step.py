# error: TypeError
# line: 31
# depends: state
# fix: float_input
# fixed-file: fixed/state_dict_with_step.py
# result: [2.0, -1.01] 300

import jax
import jax.numpy as jnp


def create_state(n):
    return {
        "params": {"mu": jnp.zeros(n), "log_sigma": jnp.zeros(n)},
        "step": jnp.int32(0),
    }


def log_likelihood(params, data):
    sigma = jnp.exp(params["log_sigma"])
    z = (data - params["mu"]) / sigma
    return jnp.mean(jnp.sum(-0.5 * z ** 2 - params["log_sigma"], axis=-1))


def objective(state, data):
    return -log_likelihood(state["params"], data)


@jax.jit
def fit_step(state, data):
    grads = jax.grad(objective)(state, data)["params"]
    lr = 0.5 / (1.0 + 0.01 * state["step"])
    params = jax.tree.map(lambda p, g: p - lr * g, state["params"], grads)
    return {"params": params, "step": state["step"] + 1}


data = jnp.stack([2.0 + 0.5 * jnp.sin(jnp.arange(50.0)), -1.0 + 1.5 * jnp.cos(jnp.arange(50.0))], axis=1)
state = create_state(2)
for _ in range(300):
    state = fit_step(state, data)
print([round(float(m), 2) for m in state["params"]["mu"]], int(state["step"]))
