"""Learn the law of motion of predators and prey from two noisy records of their numbers.

A network gives the rates of change, Runge-Kutta steps integrate them, and gradients go through the steps.
The judge is a path from a start between those of the records.
"""

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax, random
from sagax.example_libraries.optimizers import adam

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEP, STEPS, PIECE, NOISE = 0.1, 160, 12, 0.02
TRAINING = 1000
adam_init, adam_step, get_params = adam(lambda i: 0.02 * (1 - i / TRAINING), b2=0.99)


def true_rates(state):
    prey, predators = state
    return snp.stack([prey * (1 - predators), predators * (prey - 1)])


def network(params, state):
    """Rates of growth per head from a hidden layer, times the numbers of both."""
    hidden = snp.tanh(state @ params["w1"] + params["b1"])
    return state * (hidden @ params["w2"] + params["b2"])


def path(rates, start, steps):
    """The states after each of so many Runge-Kutta steps of fourth order, the start first."""

    def step(x, _):
        k1 = rates(x)
        k2 = rates(x + STEP / 2 * k1)
        k3 = rates(x + STEP / 2 * k2)
        k4 = rates(x + STEP * k3)
        return x + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4), x

    return lax.scan(step, start, length=steps)[1]


def loss(params, pieces):
    """Mean squared error over short pieces of the records, each followed from its first state."""
    paths = sagax.vmap(lambda x: path(lambda y: network(params, y), x, PIECE))(pieces[:, 0])
    return snp.mean((paths - pieces) ** 2)


@sagax.jit
def step(i, state, pieces):
    value, gradient = sagax.value_and_grad(loss)(get_params(state), pieces)
    return adam_step(i, gradient, state), value


def main():
    noise_key, one, two = random.split(random.key(0), 3)
    starts = snp.array([[2.2, 1.0], [1.25, 1.0]])
    records = sagax.vmap(lambda x: path(true_rates, x, STEPS))(starts)
    records = records * snp.exp(NOISE * random.normal(noise_key, records.shape))
    windows = np.arange(STEPS - PIECE)[:, None] + np.arange(PIECE)
    pieces = records[:, windows].reshape(-1, PIECE, 2)

    params = {
        "w1": random.normal(one, (2, 24)),
        "b1": snp.zeros(24),
        "w2": 0.1 * random.normal(two, (24, 2)),
        "b2": snp.zeros(2),
    }
    state = adam_init(params)
    for i in range(TRAINING):
        state, value = step(i, state, pieces)
    params = get_params(state)

    unseen = snp.array([1.7, 1.0])
    truth = path(true_rates, unseen, STEPS)
    learned = path(lambda x: network(params, x), unseen, STEPS)
    print(f"error on the pieces         {value**0.5:.4f}")
    print(f"error from an unseen start  {snp.mean((truth - learned) ** 2) ** 0.5:.4f}")

    grid = snp.stack(snp.meshgrid(snp.linspace(0.3, 2.4, 15), snp.linspace(0.3, 2.4, 15)), -1)
    arrows = sagax.vmap(sagax.vmap(lambda x: network(params, x)))(grid)
    figure, ax = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
    ax.quiver(*np.moveaxis(grid, -1, 0), *np.moveaxis(arrows, -1, 0), color="lightgray")
    ax.plot(*records.reshape(-1, 2).T, ".", markersize=3, label="two records")
    ax.plot(*truth.T, color="black", label="unseen start, true law")
    ax.plot(*learned.T, "--", color="red", label="unseen start, learned law")
    ax.set(xlabel="prey", ylabel="predators", title="A law of motion from data")
    ax.legend(loc="upper right")
    figure.savefig("neural_ode.png", dpi=100)


main()
