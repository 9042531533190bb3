"""Sample a curved density with Hamiltonian Monte Carlo: 64 chains at once, started far from each other.

The moments of the density are known: the means are 0 and 1, the variances 1 and 3.
"""

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax, random

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CHAINS, WARMUP, SAMPLES = 64, 200, 1000
STEP, LEAPS = 0.15, 20


def energy(x):
    """Minus the logarithm of the density: x0 is normal, x1 lies close to x0 squared."""
    return 0.5 * x[0] ** 2 + 0.5 * (x[1] - x[0] ** 2) ** 2


def leapfrog(_, state):
    x, p = state
    p = p - STEP / 2 * sagax.grad(energy)(x)
    x = x + STEP * p
    p = p - STEP / 2 * sagax.grad(energy)(x)
    return x, p


def step(x, key):
    """Propose the end of a path, and accept it with the probability that keeps the density."""
    momentum_key, length_key, accept_key = random.split(key, 3)
    p = random.normal(momentum_key, x.shape)
    leaps = random.randint(length_key, (), 1, LEAPS + 1)
    new, q = lax.fori_loop(0, leaps, leapfrog, (x, p))
    change = energy(x) - energy(new) + 0.5 * (p @ p - q @ q)
    accept = snp.log(random.uniform(accept_key)) < change
    x = snp.where(accept, new, x)
    return x, (x, accept)


@sagax.jit
def sample(key):
    """Run all chains: arrays of shapes (CHAINS, SAMPLES, 2) and (CHAINS, SAMPLES)."""
    start_key, key = random.split(key)
    starts = 2 * random.normal(start_key, (CHAINS, 2))

    def chain(x, key):
        return lax.scan(step, x, random.split(key, WARMUP + SAMPLES))[1]

    draws, accepted = sagax.vmap(chain)(starts, random.split(key, CHAINS))
    return draws[:, WARMUP:], accepted[:, WARMUP:]


def r_hat(draws):
    """Compare the variance over all chains with that inside of them: 1 once they agree."""
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    return snp.sqrt(1 + between / within)


def main():
    draws, accepted = sample(random.key(0))
    together = draws.reshape(-1, 2)
    mean, variance = together.mean(axis=0), together.var(axis=0)
    print(f"accepted                    {accepted.mean():.3f}")
    print(f"means, exactly 0 and 1      {mean[0]:.3f}, {mean[1]:.3f}")
    print(f"variances, exactly 1 and 3  {variance[0]:.3f}, {variance[1]:.3f}")
    print(f"r-hat                       {r_hat(draws).max():.4f}")

    x, y = np.meshgrid(np.linspace(-3.2, 3.2, 200), np.linspace(-2.5, 9, 200))
    density = np.exp(-energy(np.stack([x, y])))
    figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
    ax.contour(x, y, density, levels=6, linewidths=0.8, cmap="gray")
    ax.plot(*together[::40].T, ".", markersize=2, alpha=0.5)
    ax.plot(*draws[0, :25].T, "r.-", linewidth=0.8, label="25 steps of a chain")
    ax.set(xlim=(-3.2, 3.2), ylim=(-2.5, 9), title="Hamiltonian Monte Carlo")
    ax.legend(loc="upper center")
    figure.savefig("hmc.png", dpi=100)


main()
