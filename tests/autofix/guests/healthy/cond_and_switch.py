import jax
import jax.numpy as jnp


def reflect(ball):
    return {**ball, "v": -0.9 * ball["v"], "x": jnp.abs(ball["x"])}


@jax.jit
def fly(ball, medium):
    drag = jax.lax.switch(medium, [lambda v: 0.0 * v, lambda v: 0.1 * v, lambda v: 0.5 * v], ball["v"])
    ball = {"x": ball["x"] + 0.1 * ball["v"], "v": ball["v"] - 0.981 - 0.1 * drag}
    return jax.lax.cond(ball["x"] < 0.0, reflect, lambda b: b, ball)


ball = {"x": 1.0, "v": 0.0}
for k in range(12):
    ball = fly(ball, k % 3)
print(round(float(ball["x"]), 3), bool(ball["x"] >= 0.0))
