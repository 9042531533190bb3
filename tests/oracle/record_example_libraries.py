"""Records what jax's example libraries compute: trajectories of optimizers, outputs of layers."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers, stax

DATA = Path(__file__).resolve().parents[1] / "data" / "example_libraries.npz"

# name -> how to make it, from the library
OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "sgd_decay": lambda o: o.sgd(o.exponential_decay(0.1, 3, 0.5)),
    "sgd_inverse": lambda o: o.sgd(o.inverse_time_decay(0.1, 3, 0.5)),
    "sgd_staircase": lambda o: o.sgd(o.inverse_time_decay(0.1, 3, 0.5, staircase=True)),
    "sgd_polynomial": lambda o: o.sgd(o.polynomial_decay(0.1, 5, 0.01, 2.0)),
    "sgd_pieces": lambda o: o.sgd(o.piecewise_constant([2, 5], [0.1, 0.05, 0.01])),
    "momentum": lambda o: o.momentum(0.1, 0.9),
    "nesterov": lambda o: o.nesterov(0.1, 0.9),
    "adagrad": lambda o: o.adagrad(0.1),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "rmsprop_momentum": lambda o: o.rmsprop_momentum(0.1),
    "adam": lambda o: o.adam(0.1),
    "adamax": lambda o: o.adamax(0.1),
    "sm3": lambda o: o.sm3(0.1),
}
IMAGES = (2, 6, 5, 3)
# name -> how to make it, and the shape of its input
LAYERS = {
    "Dense": (lambda s: s.Dense(4), (3, 5)),
    "Conv": (lambda s: s.Conv(4, (3, 2), padding="SAME"), IMAGES),
    "Conv_strided": (lambda s: s.Conv(4, (3, 3), strides=(2, 1)), IMAGES),
    "GeneralConv": (lambda s: s.GeneralConv(("NCHW", "OIHW", "NHWC"), 2, (3, 2)), (2, 3, 6, 5)),
    "ConvTranspose": (lambda s: s.ConvTranspose(4, (3, 3), strides=(2, 2), padding="SAME"), IMAGES),
    "Conv1DTranspose": (lambda s: s.Conv1DTranspose(4, (3,), strides=(2,)), (2, 6, 3)),
    "BatchNorm": (lambda s: s.BatchNorm(), IMAGES),
    "BatchNorm_plain": (lambda s: s.BatchNorm(axis=0, center=False, scale=False), (6, 3)),
    "MaxPool": (lambda s: s.MaxPool((2, 2), strides=(2, 1), padding="SAME"), IMAGES),
    "SumPool": (lambda s: s.SumPool((2, 3)), IMAGES),
    "AvgPool": (lambda s: s.AvgPool((2, 2), padding="SAME"), IMAGES),
    "AvgPool_spec": (lambda s: s.AvgPool((2, 2), spec="NCHW"), (2, 3, 6, 5)),
    "Flatten": (lambda s: s.Flatten, IMAGES),
    "Dropout": (lambda s: s.Dropout(0.4), (3, 5)),
    "Dropout_test": (lambda s: s.Dropout(0.4, mode="test"), (3, 5)),
    "serial": (
        lambda s: s.serial(
            s.Dense(6),
            s.Tanh,
            s.FanOut(2),
            s.parallel(s.serial(s.Dense(6), s.Dropout(0.5)), s.Identity),
            s.FanInSum,
            s.LogSoftmax,
        ),
        (3, 5),
    ),
    "concat": (
        lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(2), s.Elu), s.FanInConcat(-1)),
        (3, 5),
    ),
    "shape_dependent": (lambda s: s.shape_dependent(lambda shape: s.Dense(shape[-1])), (3, 5)),
    **{
        name: (lambda s, name=name: getattr(s, name), (3, 5))
        for name in (
            "Tanh Relu Exp LogSoftmax Softmax Softplus Sigmoid Elu LeakyRelu Selu Gelu".split()
        )
    },
}


def inputs(shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape) * 2


def start():
    return {"w": inputs((3, 4)), "b": inputs((4,)), "s": np.float32(1.5)}


def gradients(step):
    return {name: np.cos(step + x).astype(np.float32) for name, x in start().items()}


if __name__ == "__main__":
    found = {}
    for name, make in OPTIMIZERS.items():
        init, update, get = make(optimizers)
        state = init(start())
        for step in range(8):
            state = update(step, gradients(step), state)
        for part, value in get(state).items():
            found[f"optimizer/{name}/{part}"] = np.asarray(value)
    for name, (make, shape) in LAYERS.items():
        init, apply = make(stax)
        out_shape, params = init(jax.random.key(3), shape)
        out = apply(params, jnp.asarray(inputs(shape)), rng=jax.random.key(4))
        found[f"layer/{name}/shape"] = np.array(out_shape)
        for i, leaf in enumerate(jax.tree.leaves(params)):
            found[f"layer/{name}/param{i}"] = np.asarray(leaf)
        found[f"layer/{name}/out"] = np.asarray(out)
    np.savez_compressed(DATA, **found)
