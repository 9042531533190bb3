# error: TypeError
# expect: TypeError | ValueError
# line: 31
# also-line: 27
# depends: -
# fix: return_value
# fixed-file: fixed/jacobi_no_return.py
# result: centre 28.44 ; residual small True

"""Jacobi relaxation of the Laplace equation on a square plate."""
import jax
import jax.numpy as jnp

N = 12


def boundary():
    plate = jnp.zeros((N, N))
    plate = plate.at[0, :].set(100.0)
    plate = plate.at[:, -1].set(25.0)
    return plate


def sweep(i, plate):
    inner = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1]
                    + plate[1:-1, :-2] + plate[1:-1, 2:])
    plate = plate.at[1:-1, 1:-1].set(inner)


def relax(plate, iters):
    return jax.lax.fori_loop(0, iters, sweep, plate)


def residual(plate):
    lap = (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2]
           + plate[1:-1, 2:] - 4 * plate[1:-1, 1:-1])
    return jnp.abs(lap).max()


plate = relax(boundary(), 300)
print("centre", round(float(plate[N // 2, N // 2]), 2))
print("residual small", bool(residual(plate) < 0.1))
