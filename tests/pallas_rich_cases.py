"""Random kernels with prefetched indices, overlapping blocks, masks, products, scans and several outputs, from a seed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

COUNT = 80


class Case:
    """A kernel over rows of a matrix, with its operands."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed + 10_000)
        self.seed = seed
        self.rows, self.columns = rng.choice([2, 4]), rng.choice([2, 4, 8])
        self.steps, self.inner = rng.choice([2, 3, 4]), rng.choice([1, 1, 2, 3])
        # how the kernel finds its rows: in order, by prefetched indices, or overlapping with others
        self.source = rng.choice(["plain", "prefetched", "element"])
        self.dtype = np.dtype(rng.choice([np.float32, np.float32, np.int32]))
        self.sums = rng.random() < 0.5
        self.scoped = rng.random() < 0.3
        self.statements = [rng.randrange(10_000) for _ in range(rng.choice([2, 3, 4, 5]))]

    def inputs(self) -> tuple:
        numbers = np.random.default_rng(self.seed)
        rows = self.rows * self.steps
        order = numbers.permutation(self.steps).astype(np.int32)
        x = numbers.integers(-4, 5, (rows, self.columns)).astype(self.dtype)
        w = numbers.integers(-2, 3, (self.columns, self.columns)).astype(self.dtype)
        return order, x, w

    def run(self, lib: Any, pl: Any, interpret: Any) -> list[np.ndarray]:
        """Return the outputs on jax, or on sagax."""
        r, c, steps = self.rows, self.columns, self.steps
        if self.source == "prefetched":
            rows = pl.BlockSpec((r, c), lambda i, k, order: (order[i], 0))
        elif self.source == "element":
            rows = pl.BlockSpec(
                (pl.Element(r, (1, 1)), pl.Element(c)), lambda i, k, order: (i * r + 1, 0)
            )
        else:
            rows = pl.BlockSpec((r, c), lambda i, k, order: (i, 0))
        outs = [lib.ShapeDtypeStruct((r * steps, c), self.dtype)]
        specs = [pl.BlockSpec((r, c), lambda i, k, order: (i, 0))]
        if self.sums:
            outs.append(lib.ShapeDtypeStruct((steps, c), np.float32))
            specs.append(pl.BlockSpec((None, c), lambda i, k, order: (i, 0)))
        grid_spec = pl.tpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(steps, self.inner),
            in_specs=[rows, pl.BlockSpec((c, c), lambda i, k, order: (0, 0))],
            out_specs=specs,
        )
        call = pl.pallas_call(self.kernel(lib, pl), outs, grid_spec=grid_spec, interpret=interpret)
        return [np.asarray(x) for x in call(*self.inputs())]

    def kernel(self, lib: Any, pl: Any) -> Any:
        np_ = lib.numpy

        def kernel(order: Any, x_ref: Any, w_ref: Any, o_ref: Any, *sums: Any) -> None:
            @pl.when(pl.program_id(1) == 0)
            def _() -> None:
                o_ref[...] = x_ref[...]

            for number in self.statements:
                value = self.value(random.Random(number), lib, pl, order, x_ref, w_ref, o_ref)
                o_ref[...] = np_.clip(value, -50, 50).astype(self.dtype)
            if sums:
                sums[0][...] = o_ref[...].astype(np.float32).sum(0)

        return kernel

    def value(
        self, rng: random.Random, lib: Any, pl: Any, order: Any, x: Any, w: Any, o: Any
    ) -> Any:
        np_, lax = lib.numpy, lib.lax
        i, n = pl.program_id(rng.randrange(2)), o.shape[1]
        kind = rng.choice(
            ["product", "row", "column", "scan", "reverse", "masked", "loop", "while", "cond"]
            + ["turned", "halves", "scoped", "order", "window", "select", "stored"]
        )
        value = o[...]
        if kind == "product":
            return value @ w[...]
        if kind == "row":
            return value - value.max(1, keepdims=True)
        if kind == "column":
            return value + value.sum(0)
        if kind == "scan":
            return lax.cumsum(value, rng.randrange(2))
        if kind == "reverse":
            return value[:, ::-1] + i.astype(self.dtype)
        if kind == "masked":
            mask = np_.arange(n)[None] + np_.zeros((o.shape[0], 1), np.int32) <= i
            return pl.triton.load(x.at[...], mask=mask, other=np.asarray(3, self.dtype)) + value
        if kind == "loop":
            return lax.fori_loop(0, i + 1, lambda j, t: t + x[...] * j.astype(self.dtype), value)
        if kind == "while":
            return lax.while_loop(lambda t: t.sum() < 20, lambda t: t + 5, value)
        if kind == "cond":
            return lax.cond(i > 0, lambda t: t + x[...], lambda t: t * 2, value)
        if kind == "turned":
            return (value.T + np_.arange(o.shape[0]).astype(self.dtype)).T
        if kind == "halves":
            return np_.concatenate([value[:, n // 2 :], value[:, : n // 2]], 1)
        if kind == "scoped":

            def scope(tmp: Any) -> Any:
                tmp[...] = x[...] * 2
                tmp[0] = value[0]
                return tmp[...] + value

            return pl.run_scoped(scope, pl.ANY(o.shape, self.dtype))
        if kind == "order":
            return value + order[pl.program_id(0)].astype(self.dtype)
        if kind == "window":
            at = pl.ds(lax.rem(i, 2), o.shape[0] - 1)
            o[at] = x[at] + 1
            return o[...]
        if kind == "select":
            return np_.where(value > x[...], value, -x[...])
        o[0, rng.randrange(n)] = x[1, 0]
        return o[...] + w[0]


def outputs(lib: Any, pl: Any, interpret: Any) -> dict[str, np.ndarray]:
    """Return the outputs of each kernel, by its seed and their number."""
    return {
        f"rich.{seed}.{k}": x
        for seed in range(COUNT)
        for k, x in enumerate(Case(seed).run(lib, pl, interpret))
    }
