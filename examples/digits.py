"""Learns to read handwritten digits with a small neural network.

    python examples/digits.py

The data are the 1,797 scanned digits of 8x8 pixels that come with scikit-learn. One run prints the
time to the first step, the steps per second and the accuracy on digits the network has not seen,
and draws the course of the loss. (digits_jax.py is the same program with JAX's imports.)
"""

import argparse
import itertools
import json
import time

import matplotlib
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import sagax
import sagax.numpy as snp
from sagax import random

matplotlib.use("Agg")  # draws into files, needs no screen
import matplotlib.pyplot as plt

CLASSES = 10
SIZES = (64, 128, 64, CLASSES)  # pixels, two hidden layers, one score per digit
TEST_SIZE = 360
BATCH_SIZE = 64
LEARNING_RATE = 0.1
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4
SHOW_EVERY = 25


def load_data(key):
    """Digits to learn from and to test on, ((images, labels), (images, labels)), split by `key`."""
    digits = load_digits()
    images = snp.asarray(digits.data, dtype=snp.float32) / 16.0  # pixels in [0, 1]
    labels = snp.asarray(digits.target, dtype=snp.int32)
    order = random.permutation(key, images.shape[0])
    train, test = order[TEST_SIZE:], order[:TEST_SIZE]
    return (images[train], labels[train]), (images[test], labels[test])


def init_params(key):
    """Weights from a normal distribution scaled to keep the size of the signal; biases zero."""
    params = {}
    for i in range(len(SIZES) - 1):
        n_in, n_out = SIZES[i], SIZES[i + 1]
        weights = random.normal(random.fold_in(key, i), (n_in, n_out)) * snp.sqrt(2.0 / n_in)
        params[f"layer{i}"] = {"w": weights, "b": snp.zeros(n_out)}
    return params


def predict(params, image):
    """The ten log-probabilities of one image of shape (64,)."""
    last = len(SIZES) - 2
    hidden = image
    for i in range(last):
        layer = params[f"layer{i}"]
        hidden = snp.maximum(hidden @ layer["w"] + layer["b"], 0.0)
    scores = hidden @ params[f"layer{last}"]["w"] + params[f"layer{last}"]["b"]
    shifted = scores - snp.max(scores)  # exp cannot overflow then
    return shifted - snp.log(snp.sum(snp.exp(shifted)))


def loss(params, image, label):
    """Cross entropy of one example, a scalar."""
    one_hot = snp.arange(CLASSES) == label
    return -snp.sum(snp.where(one_hot, predict(params, image), 0.0))


# From one example to many: the parameters are shared, images and labels are mapped.
losses_of = sagax.vmap(loss, in_axes=(None, 0, 0))


def mean_loss(params, images, labels):
    """What training lowers: the mean loss of a batch plus a small pull of the weights to zero."""
    squares = sagax.tree.map(lambda p: snp.sum(p * p), params)
    penalty = sum(sagax.tree.leaves(squares))
    return snp.mean(losses_of(params, images, labels)) + WEIGHT_DECAY * penalty


@sagax.jit
def train_step(params, velocity, images, labels, rows):
    """One step of gradient descent with momentum on the examples `rows`."""
    value, grads = sagax.value_and_grad(mean_loss)(params, images[rows], labels[rows])
    velocity = sagax.tree.map(lambda v, g: MOMENTUM * v - LEARNING_RATE * g, velocity, grads)
    params = sagax.tree.map(lambda p, v: p + v, params, velocity)
    return params, velocity, value


@sagax.jit
def accuracy(params, images, labels):
    """The part of the images whose most probable digit is the right one."""
    best = snp.argmax(sagax.vmap(predict, in_axes=(None, 0))(params, images), axis=1)
    return snp.mean(snp.where(best == labels, 1.0, 0.0))


def batches(key, examples, epochs):
    """The row numbers of one batch after the other, shuffled anew in every pass."""
    per_epoch = examples // BATCH_SIZE
    for epoch in range(epochs):
        order = random.permutation(random.fold_in(key, epoch), examples)
        yield from order[: per_epoch * BATCH_SIZE].reshape(per_epoch, BATCH_SIZE)


def train(key, images, labels, epochs, max_steps):
    """Trained parameters, loss of every step, seconds to the first step and for the others."""
    examples = images.shape[0]
    steps = epochs * (examples // BATCH_SIZE)
    if max_steps is not None:
        steps = min(steps, max_steps)
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[loss]}"),
    )
    start = time.perf_counter()
    init_key, shuffle_key = random.split(key)
    params = init_params(init_key)
    velocity = sagax.tree.map(snp.zeros_like, params)
    history = []
    with bar:
        task = bar.add_task("training", total=steps, loss="")
        for rows in itertools.islice(batches(shuffle_key, examples, epochs), steps):
            params, velocity, value = train_step(params, velocity, images, labels, rows)
            history.append(value)
            if len(history) == 1:
                sagax.block_until_ready(value)
                first = time.perf_counter() - start
            if len(history) % SHOW_EVERY == 0:  # reading a loss waits for it, so not at each step
                bar.update(task, completed=len(history), loss=f"loss {float(value):.4f}")
        sagax.block_until_ready(params)
        bar.update(task, completed=len(history))
    rest = time.perf_counter() - start - first
    return params, [float(value) for value in history], first, rest


def draw(history, path):
    """Draws the loss of every step, on a logarithmic axis, into the file `path`."""
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.semilogy(range(1, len(history) + 1), history, linewidth=0.8)
    axes.set(xlabel="step", ylabel="loss", title="Handwritten digits")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def positive(text):
    """A command line number that counts something: at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=positive, default=25, help="passes over the digits")
    parser.add_argument("--steps", type=positive, help="stop after this many steps")
    parser.add_argument("--seed", type=int, default=0, help="other start, split and shuffling")
    parser.add_argument("--losses", metavar="FILE", help="write the loss of every step as JSON")
    parser.add_argument("--plot", metavar="FILE", default="loss.png", help="the drawing")
    args = parser.parse_args()

    data_key, train_key = random.split(random.key(args.seed))
    (images, labels), (test_images, test_labels) = load_data(data_key)
    params, history, first, rest = train(train_key, images, labels, args.epochs, args.steps)

    print(f"time to first step  {first:.2f} s")
    if len(history) > 1:
        print(f"steps per second    {(len(history) - 1) / rest:.0f}")
    print(f"loss                {history[0]:.4f} -> {history[-1]:.4f} in {len(history)} steps")
    print(f"test accuracy       {float(accuracy(params, test_images, test_labels)):.4f}")
    if args.losses:
        with open(args.losses, "w", encoding="utf-8") as file:
            json.dump(history, file)
    draw(history, args.plot)
    print(f"loss curve          {args.plot}")


if __name__ == "__main__":
    main()
