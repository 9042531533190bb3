# error: TypeError
# line: 13
# depends: -
# fix: any
# result: [[0.0, 0.41600000858306885, 0.5090000033378601, 0.41600000858306885, 0.0], [0.0, 0.1550000011920929, 0.20500001311302185, 0.1550000011920929, 0.0]]

import jax
import jax.numpy as jnp


def relax(sheet):
    inner = (sheet[:-2, 1:-1] + sheet[2:, 1:-1] + sheet[1:-1, :-2] + sheet[1:-1, 2:]) / 4
    sheet[1:-1, 1:-1] = inner
    sheet[0] = 1.0
    return sheet


@jax.jit
def settle(sheet):
    return jax.lax.fori_loop(0, 20, lambda _, s: relax(s), sheet)


print(settle(jnp.zeros((4, 5))).round(3).tolist()[1:3])
