"""Balance a pole on a cart: a controller learns by derivatives through a second of physics, and is tried for ten.

The equations of motion are those of a pole that is hinged to a cart without friction; the controller pushes
the cart with up to 10 N.
"""

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax, nn, random
from sagax.example_libraries.optimizers import adam, clip_grads

matplotlib.use("Agg")
import matplotlib.pyplot as plt

GRAVITY, CART, POLE, LENGTH = 9.8, 1.0, 0.1, 0.5  # m/s^2, kg, kg, m to the middle of the pole
FORCE, TIME, LEARNED, TRIED = 10.0, 0.02, 60, 500  # N, s, steps
UPDATES, BATCH = 400, 64
adam_init, adam_step, get_params = adam(5e-3)


def accelerations(state, force):
    """Of the cart and of the angle, from the balance of forces and of torques."""
    _, _, angle, turning = state
    sin, cos = snp.sin(angle), snp.cos(angle)
    push = (force + POLE * LENGTH * turning**2 * sin) / (CART + POLE)
    inertia = LENGTH * (4 / 3 - POLE * cos**2 / (CART + POLE))
    turn = (GRAVITY * sin - cos * push) / inertia
    return push - POLE * LENGTH * turn * cos / (CART + POLE), turn


def advance(state, force):
    """A step of the semi-implicit Euler method: speeds first, then places with the new speeds."""
    place, speed, angle, turning = state
    push, turn = accelerations(state, force)
    speed, turning = speed + TIME * push, turning + TIME * turn
    return snp.array([place + TIME * speed, speed, angle + TIME * turning, turning])


def init(key):
    first, second = random.split(key)
    return {
        "in": random.normal(first, (5, 32)) / 2,
        "bias": snp.zeros(32),
        "out": random.normal(second, (32,)) / 50,
    }


def control(params, state):
    place, speed, angle, turning = state
    seen = snp.array([place, speed, snp.sin(angle), snp.cos(angle) - 1, turning])
    return FORCE * snp.tanh(nn.tanh(seen @ params["in"] + params["bias"]) @ params["out"])


def path(params, start, steps):
    """The states of a number of steps, and the forces."""

    def step(state, _):
        force = control(params, state)
        return advance(state, force), (state, force)

    return lax.scan(step, start, length=steps)[1]


def starts(key, count):
    """Upright to within 0.4 rad, near the middle, nearly at rest."""
    width = snp.array([0.5, 0.2, 0.4, 0.2])
    return random.uniform(key, (count, 4), minval=-width, maxval=width)


def loss(params, batch):
    states, forces = sagax.vmap(path, (None, 0, None))(params, batch, LEARNED)
    tilted, off = 1 - snp.cos(states[..., 2]), states[..., 0] ** 2
    return (10 * tilted + off + 1e-3 * forces**2).mean()


@sagax.jit
def train(key):
    init_key, key = random.split(key)

    def update(state, i):
        batch = starts(random.fold_in(key, i), BATCH)
        value, gradient = sagax.value_and_grad(loss)(get_params(state), batch)
        return adam_step(i, clip_grads(gradient, 1.0), state), value

    state, losses = lax.scan(update, adam_init(init(init_key)), snp.arange(UPDATES))
    return get_params(state), losses


def main():
    params, losses = train(random.key(0))
    test = starts(random.key(1), 500)
    paths = sagax.jit(sagax.vmap(path, (None, 0, None)), static_argnums=2)
    for name, controller in (("untrained", init(random.key(2))), ("trained", params)):
        states, _ = paths(controller, test, TRIED)
        upright = (snp.abs(states[..., 2]) < 0.5).all(axis=1) & (snp.abs(states[..., 0]) < 2.4).all(
            axis=1
        )
        print(f"balanced of 500 starts, {name}  {int(upright.sum())}")
    print(f"mean distance from the middle, m  {snp.abs(states[..., 0]).mean():.4f}")

    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    axes[0].semilogy(losses)
    axes[0].set(title="Loss", xlabel="update")
    seconds = TIME * np.arange(TRIED)
    for ax, column, title in (
        (axes[1], 2, "Angle of the pole, rad"),
        (axes[2], 0, "Place of the cart, m"),
    ):
        ax.plot(seconds, states[:12, :, column].T, linewidth=0.9)
        ax.set(title=title, xlabel="seconds")
    figure.savefig("cart_pole.png", dpi=100)


main()
