"""Read handwritten digits with a small convolutional network, and show the ones it misreads.

The data are the 1,797 scanned digits of 8x8 pixels that come with scikit-learn; 360 are kept for the test.
"""

import matplotlib
from sklearn.datasets import load_digits

import sagax
import sagax.numpy as snp
from sagax import lax, nn, random

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EPOCHS, BATCH, TEST = 20, 64, 360


def init(key):
    """Two layers of 3x3 filters, then a dense layer from 4x4 pixels of 32 channels to ten scores."""
    first, second, last = random.split(key, 3)
    he = nn.initializers.he_normal()
    return {
        "first": he(first, (3, 3, 1, 16)),
        "second": he(second, (3, 3, 16, 32)),
        "dense": he(last, (4 * 4 * 32, 10)),
        "bias": snp.zeros(10),
    }


def convolve(x, filters, stride):
    layout = ("NHWC", "HWIO", "NHWC")
    return nn.relu(lax.conv_general_dilated(x, filters, stride, "SAME", dimension_numbers=layout))


def scores(params, images):
    x = convolve(images[..., None], params["first"], (1, 1))
    x = convolve(x, params["second"], (2, 2))
    return x.reshape(len(x), -1) @ params["dense"] + params["bias"]


def loss(params, images, labels):
    logs = nn.log_softmax(scores(params, images))
    return -snp.take_along_axis(logs, labels[:, None], axis=1).mean()


@sagax.jit
def epoch(params, velocity, images, labels, order):
    """Take a step of gradient descent with momentum on each batch."""

    def step(state, rows):
        params, velocity = state
        value, gradient = sagax.value_and_grad(loss)(params, images[rows], labels[rows])
        velocity = sagax.tree.map(lambda v, g: 0.9 * v - 0.05 * g, velocity, gradient)
        params = sagax.tree.map(snp.add, params, velocity)
        return (params, velocity), value

    return lax.scan(step, (params, velocity), order)


def main():
    data = load_digits()
    images = snp.asarray(data.images, snp.float32) / 16
    labels = snp.asarray(data.target, snp.int32)
    split_key, init_key, shuffle_key = random.split(random.key(0), 3)
    order = random.permutation(split_key, len(images))
    test, train = order[:TEST], order[TEST:]

    params = init(init_key)
    velocity = sagax.tree.map(snp.zeros_like, params)
    batches = len(train) // BATCH
    for i in range(EPOCHS):
        shuffled = random.permutation(random.fold_in(shuffle_key, i), train)
        rows = shuffled[: batches * BATCH].reshape(batches, BATCH)
        (params, velocity), losses = epoch(params, velocity, images, labels, rows)

    chances = nn.softmax(scores(params, images[test]))
    guesses = chances.argmax(axis=1)
    wrong = snp.flatnonzero(guesses != labels[test])
    print(f"training loss  {losses.mean():.4f}")
    print(f"test accuracy  {1 - len(wrong) / TEST:.4f}")

    # the misread digits, then those it was least sure of
    doubtful = snp.argsort(chances.max(axis=1) + (guesses == labels[test]))[:10]
    figure, axes = plt.subplots(2, 5, figsize=(7, 3.4), layout="constrained")
    for ax, i in zip(axes.flat, doubtful.tolist()):
        ax.imshow(images[test[i]], cmap="gray_r")
        right = guesses[i] == labels[test[i]]
        ax.set_title(f"{guesses[i]}, {chances[i].max():.0%}", color="black" if right else "red")
        ax.set_axis_off()
    figure.suptitle("Misread (red) and least certain of 360 test digits")
    figure.savefig("digits.png", dpi=100)


main()
