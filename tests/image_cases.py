"""Calls of `ops`, `image` and `scipy.ndimage` that tests/oracle/image.py records and the tests repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

METHODS = ("nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area")
SIZES = (((7, 5), (3, 9)), ((1, 4), (3, 4)))
MODES = ("constant", "nearest", "wrap", "mirror", "reflect")
SEGMENTS = ("segment_sum", "segment_prod", "segment_max", "segment_min")


def cases(lib: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A name and a call for each case; `lib` is the module jax or sagax."""
    xp, image, ops = lib.numpy, lib.image, lib.ops
    for method in METHODS:
        for antialias in (True, False):
            for shape, wanted in SIZES:
                x = xp.asarray(wave(shape))
                name = f"{method}, antialias={antialias}, {shape} to {wanted}"
                yield (
                    f"resize {name}",
                    lambda x=x, w=wanted, m=method, a=antialias: image.resize(x, w, m, antialias=a),
                )
                if method == "nearest":
                    continue
                scale, move = xp.asarray([0.6, 1.4], "float32"), xp.asarray([1.3, -2.2], "float32")
                yield (
                    f"scale_and_translate {name}",
                    lambda x=x, w=wanted, m=method, a=antialias, s=scale, t=move: (
                        image.scale_and_translate(x, w, (0, 1), s, t, m, antialias=a)
                    ),
                )
    whole = xp.asarray((wave((4, 3)) * 9).astype("int32"))
    yield "resize int linear", lambda: image.resize(whole, (2, 3), "linear")
    yield "resize int nearest", lambda: image.resize(whole, (2, 5), "nearest")
    narrow = xp.asarray(wave((4, 3))).astype("bfloat16")
    yield "resize bfloat16", lambda: image.resize(narrow, (2, 3), "linear").astype("float32")
    yield "resize bool", lambda: image.resize(whole > 2, (2, 2), "linear")
    for mode in MODES:
        for order in (0, 1):
            for shape in ((4, 3), (1,), (5,)):
                for dtype in ("float32", "int32"):
                    x = xp.asarray((wave(shape) * 9).astype(dtype))
                    places = xp.asarray(np.round(wave((len(shape), 12)) * 36).astype("float32") / 4)
                    yield (
                        f"map_coordinates {mode}, order={order}, {dtype}{shape}",
                        lambda x=x, c=places, o=order, m=mode: lib.scipy.ndimage.map_coordinates(
                            x, c, o, mode=m, cval=2.5
                        ),
                    )
    ids = xp.asarray([0, 0, 3, -1, 9, 2])
    for name in SEGMENTS:
        f = getattr(ops, name)
        for dtype in ("float32", "int8", "uint16", "complex64", "bool"):
            if dtype == "bool" and name in ("segment_sum", "segment_prod"):
                continue
            x = xp.asarray((wave((6, 2)) * 9).astype("int8")).astype(dtype)
            yield f"{name} {dtype}", lambda f=f, x=x: f(x, ids, 5)
        x = xp.asarray(wave((6,)))
        yield f"{name} as many as needed", lambda f=f, x=x: f(x, ids)
        yield f"{name} in buckets", lambda f=f, x=x: f(x, ids, 4, bucket_size=4)
        yield f"{name} clip", lambda f=f, x=x: f(x, ids, 4, mode="clip")
        yield f"{name} none", lambda f=f, x=x: f(x, ids, 0)


def wave(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers between -1 and 1, none of them special."""
    return (
        np.sin(1.7 * np.arange(1, 1 + int(np.prod(shape)), dtype="float64") ** 1.3)
        .astype("float32")
        .reshape(shape)
    )
