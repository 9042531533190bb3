"""Learn to draw digits: a variational autoencoder puts each image of a digit at a place in the plane.

The data are the 1,797 scanned digits of 8x8 pixels that come with scikit-learn; 360 are kept for the test.
"""

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import sagax
import sagax.numpy as snp
from sagax import lax, nn, random
from sagax.example_libraries.optimizers import adam

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEPS, BATCH, TEST, HIDDEN = 3000, 128, 360, 128
adam_init, adam_step, get_params = adam(2e-3)


def init(key):
    """An encoder to the mean and the logarithm of the deviation in the plane, and a decoder to 64 pixels."""
    sizes = {"see": (64, HIDDEN), "place": (HIDDEN, 4), "spread": (2, HIDDEN), "draw": (HIDDEN, 64)}
    lecun = nn.initializers.lecun_normal()
    keys = random.split(key, len(sizes))
    return {
        name: {"w": lecun(k, size), "b": snp.zeros(size[1])}
        for k, (name, size) in zip(keys, sizes.items())
    }


def layer(p, x):
    return x @ p["w"] + p["b"]


def encode(params, x):
    return snp.split(layer(params["place"], nn.gelu(layer(params["see"], x))), 2, axis=-1)


def decode(params, z):
    """The logits of ink in each pixel."""
    return layer(params["draw"], nn.gelu(layer(params["spread"], z)))


def cost(x, logits):
    """Nats that the pixels of an image cost; grey ones count as drawn in part."""
    return (nn.softplus(logits) - x * logits).sum(axis=-1)


def loss(params, key, x):
    """Minus the evidence lower bound: the cost of the pixels, and that of the places beside a normal prior."""
    mean, log_std = encode(params, x)
    z = mean + snp.exp(log_std) * random.normal(key, mean.shape)
    prior = 0.5 * (mean**2 + snp.exp(2 * log_std) - 1 - 2 * log_std).sum(axis=-1)
    return (cost(x, decode(params, z)) + prior).mean()


@sagax.jit
def train(key, images):
    init_key, key = random.split(key)

    def step(state, i):
        rows_key, noise_key = random.split(random.fold_in(key, i))
        batch = images[random.randint(rows_key, (BATCH,), 0, len(images))]
        value, gradient = sagax.value_and_grad(loss)(get_params(state), noise_key, batch)
        return adam_step(i, gradient, state), value

    state, losses = lax.scan(step, adam_init(init(init_key)), snp.arange(STEPS))
    return get_params(state), losses


def main():
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = snp.asarray(data.data[order] / 16, snp.float32)
    test, rest, labels = images[:TEST], images[TEST:], data.target[order[:TEST]]
    params, _ = train(random.key(0), rest)

    mean_image = snp.clip(rest.mean(axis=0), 1e-3, 1 - 1e-3)
    independent = cost(test, snp.log(mean_image / (1 - mean_image))).mean()
    print(f"nats per digit, each pixel alone  {independent:.2f}")
    print(f"nats per digit, autoencoder       {loss(params, random.key(1), test):.2f}")

    figure, (places, drawn) = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
    dots = places.scatter(*encode(params, test)[0].T, c=labels, cmap="tab10", s=12)
    places.legend(*dots.legend_elements(), ncols=5, fontsize="x-small", loc="lower center")
    places.set(title="Places of unseen digits", xlim=(-3.5, 3.5), ylim=(-3.5, 3.5))
    x, y = snp.meshgrid(snp.linspace(-2.5, 2.5, 12), snp.linspace(2.5, -2.5, 12))
    ink = nn.sigmoid(decode(params, snp.stack([x, y], axis=-1)))
    tiles = snp.pad(ink.reshape(12, 12, 8, 8), ((0, 0), (0, 0), (1, 1), (2, 2)))
    sheet = tiles.swapaxes(1, 2).reshape(12 * 10, 12 * 12)
    drawn.imshow(sheet, cmap="gray_r", extent=(-2.7, 2.7, -2.7, 2.7), aspect=1)
    drawn.set(title="What is drawn at each place")
    figure.savefig("vae.png", dpi=100)


main()
