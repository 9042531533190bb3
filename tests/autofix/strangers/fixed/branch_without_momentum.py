# One correct fixed version of branch_without_momentum.py
import jax
import jax.numpy as jnp


def apply(state, grads):
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - 0.1 * v, state["params"], velocity)
    return {"params": params, "velocity": velocity}


def skip(state, grads):
    return {"params": state["params"], "velocity": state["velocity"]}


@jax.jit
def guarded(state, grads):
    finite = jnp.all(jnp.isfinite(grads))
    return jax.lax.cond(finite, apply, skip, state, grads)


state = {"params": jnp.array([1.0, 2.0]), "velocity": jnp.zeros(2)}
for grads in (jnp.array([1.0, 1.0]), jnp.array([jnp.inf, 0.0]), jnp.array([0.5, 0.0])):
    state = guarded(state, grads)
print([round(float(p), 4) for p in state["params"]])
