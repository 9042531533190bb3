# error: TypeError
# line: 17
# also-line: 25
# depends: -
# fix: match_dtype
# result: 2 [0.5, 0.5, 0.0]

import jax
import jax.numpy as jnp


def accept(state, proposal):
    return {"x": proposal, "count": state["count"] + 1}


def reject(state, proposal):
    return {"x": state["x"], "count": jnp.asarray(state["count"], jnp.float32)}


class Sampler:
    def __init__(self, width):
        self.width = width

    def choose(self, ok, state, proposal):
        return jax.lax.cond(ok, accept, reject, state, proposal)

    def __call__(self, state, noise):
        proposal = state["x"] + self.width * noise
        new = self.choose(jnp.abs(proposal) < 1.0, state, proposal)
        return new, new["x"]


@jax.jit
def chain(noise):
    start = {"x": jnp.array(0.0), "count": jnp.zeros((), jnp.int32)}
    return jax.lax.scan(Sampler(0.5), start, noise)


end, xs = chain(jnp.array([1.0, 2.0, -1.0]))
print(int(end["count"]), xs.tolist())
