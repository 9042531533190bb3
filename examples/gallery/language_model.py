"""Train a small transformer on the texts of Python's `help`, character by character, and let it write.

It must beat the best prediction from the last character alone, which is computed by counting pairs.
"""

from pydoc_data.topics import topics

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax, nn, random
from sagax.example_libraries.optimizers import adam

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LETTERS = " abcdefghijklmnopqrstuvwxyz"
WIDTH, HEADS, LAYERS, LENGTH, STEPS, BATCH = 64, 4, 2, 48, 250, 32

# the rate rises, then falls to zero
adam_init, adam_step, get_params = adam(lambda i: 0.01 * snp.minimum(1, i / 30) * (1 - i / STEPS))


def text():
    """The texts as numbers 0 to 26: lower case letters, and a space for anything else."""
    words = "".join(c if c in LETTERS else " " for c in " ".join(topics.values()).lower()).split()
    return np.array([LETTERS.index(c) for c in " ".join(words)], np.int32)


def init(key):
    """Normal weights: the letters, the positions, and the four matrices of each layer."""
    embed, position, out, *keys = random.split(key, 3 + LAYERS)
    lecun = nn.initializers.lecun_normal()
    sizes = {"qkv": (1, 3), "mix": (1, 1), "up": (1, 4), "down": (4, 1)}
    layers = []
    for layer_keys in (random.split(k, len(sizes)) for k in keys):
        shapes = [(n_in * WIDTH, n_out * WIDTH) for n_in, n_out in sizes.values()]
        layers.append({name: lecun(k, s) for name, k, s in zip(sizes, layer_keys, shapes)})
    return {
        "embed": random.normal(embed, (len(LETTERS), WIDTH)),
        "position": random.normal(position, (LENGTH, WIDTH)),
        "layers": layers,
        "out": lecun(out, (WIDTH, len(LETTERS))),
    }


def predict(params, tokens):
    """The scores of the next letter, at each position of one text of at most LENGTH letters."""
    x = params["embed"][tokens] + params["position"][: len(tokens)]
    for layer in params["layers"]:
        parts = nn.standardize(x) @ layer["qkv"]
        q, k, v = parts.reshape(len(tokens), 3, HEADS, -1).swapaxes(0, 1)
        attended = nn.dot_product_attention(q, k, v, is_causal=True)
        x = x + attended.reshape(len(tokens), WIDTH) @ layer["mix"]
        x = x + nn.gelu(nn.standardize(x) @ layer["up"]) @ layer["down"]
    return nn.standardize(x) @ params["out"]


def bits(params, batch):
    """Mean number of bits that a letter costs, over texts of LENGTH + 1 letters."""
    logs = nn.log_softmax(sagax.vmap(predict, (None, 0))(params, batch[:, :-1]))
    return -snp.take_along_axis(logs, batch[:, 1:, None], axis=-1).mean() / snp.log(2)


@sagax.jit
def step(i, state, batch):
    value, gradient = sagax.value_and_grad(bits)(get_params(state), batch)
    return adam_step(i, gradient, state), value


@sagax.jit
def write(params, key, start):
    """Write on after LENGTH letters: drop the first, draw the next."""

    def letter(window, key):
        drawn = random.categorical(key, predict(params, window)[-1] / 0.7)
        return snp.append(window[1:], drawn), drawn

    return lax.scan(letter, start, random.split(key, 180))[1]


def pair_bits(train, test):
    """Bits per letter of the test text, each predicted from the one before by counting pairs."""
    counts = np.ones((27, 27))
    np.add.at(counts, (train[:-1], train[1:]), 1)
    chances = counts / counts.sum(axis=1, keepdims=True)
    return -np.log2(chances[test[:-1], test[1:]]).mean()


def main():
    tokens = text()
    train, test = tokens[:-20000], tokens[-20000:]
    rng = np.random.default_rng(0)
    state = adam_init(init(random.key(0)))
    history = []
    for i in range(STEPS):
        starts = rng.integers(0, len(train) - LENGTH - 1, (BATCH, 1))
        state, value = step(i, state, train[starts + np.arange(LENGTH + 1)])
        history.append(value)
    params = get_params(state)

    pairs = pair_bits(train, test)
    windows = test[: 400 * (LENGTH + 1)].reshape(400, LENGTH + 1)
    print(f"bits per letter, from pairs   {pairs:.3f}")
    print(f"bits per letter, transformer  {sagax.jit(bits)(params, windows):.3f}")
    sample = "".join(LETTERS[i] for i in write(params, random.key(1), test[:LENGTH]))

    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.plot(history, linewidth=0.8, label="transformer, training batches")
    ax.axhline(pairs, color="gray", linestyle="--", label="pairs of letters, test text")
    ax.set(xlabel="step", ylabel="bits per letter")
    ax.legend()
    lines = "\n".join(sample[i : i + 60] for i in range(0, 180, 60))
    figure.suptitle(f"It writes:\n{lines}", family="monospace", fontsize=9)
    figure.savefig("language_model.png", dpi=100)


main()
