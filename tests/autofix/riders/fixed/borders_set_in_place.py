import jax
import jax.numpy as jnp


def relax(sheet):
    inner = (sheet[:-2, 1:-1] + sheet[2:, 1:-1] + sheet[1:-1, :-2] + sheet[1:-1, 2:]) / 4
    sheet = sheet.at[1:-1, 1:-1].set(inner)
    return sheet.at[0].set(1.0)


@jax.jit
def settle(sheet):
    return jax.lax.fori_loop(0, 20, lambda _, s: relax(s), sheet)


print(settle(jnp.zeros((4, 5))).round(3).tolist()[1:3])
