"""Random kernels, written for either library: blocks, index maps, bodies drawn from a seed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

COUNT = 120


def _index_map(rng: random.Random, kind: str, axis: int, n: int) -> Any:
    """Return the index along one dimension as a function of the program's indices."""
    if kind == "plain":
        return lambda ids: ids[axis]
    if kind == "reversed":
        return lambda ids: n - 1 - ids[axis]
    if kind == "halved":
        return lambda ids: ids[axis] // 2
    if kind == "wrapped":
        shift = rng.randrange(1, 4)
        return lambda ids: (ids[axis] + shift) % n
    at = rng.randrange(n)
    return lambda ids: at


class Case:
    """A kernel with its operands."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        self.seed = seed
        rank = rng.choice([1, 2, 2, 2, 3])
        self.blocks = [rng.choice([1, 2, 3, 4]) for _ in range(rank)]
        counts = [rng.choice([1, 2, 3]) for _ in range(rank)]
        ragged = rng.random() < 0.3
        self.shape = [
            b * n - (rng.randrange(b) if ragged else 0)
            for b, n in zip(self.blocks, counts, strict=True)
        ]
        axes = list(range(rank))
        rng.shuffle(axes)
        # axis `axes[j]` of the grid counts the blocks along dimension j
        self.grid = [0] * rank
        for j, k in enumerate(axes):
            self.grid[k] = counts[j]
        self.repeats = rng.choice([0, 0, 2, 3])
        if self.repeats:
            at = rng.choice([0, rank])  # the first axis or the last one
            axes = [k + (at == 0) for k in axes]
            self.grid.insert(at, self.repeats)
            self.repeat_axis = at
        self.axes = axes
        self.n_inputs = rng.choice([1, 2, 2, 3])
        kinds = ["plain"] * 4 + ["reversed", "halved", "wrapped", "fixed"]
        self.squeezed = [b == 1 and rng.random() < 0.7 for b in self.blocks]
        self.maps = [
            [_index_map(rng, rng.choice(kinds), axes[j], counts[j]) for j in range(rank)]
            for _ in range(self.n_inputs)
        ]
        self.out_maps = [
            _index_map(rng, rng.choice(["plain"] * 5 + ["reversed", "fixed"]), axes[j], counts[j])
            for j in range(rank)
        ]
        self.dtype = rng.choice([np.float32, np.float32, np.int32])
        self.scratch = rng.random() < 0.5
        self.alias = rng.random() < 0.3
        self.statements = [rng.randrange(10_000) for _ in range(rng.choice([1, 2, 3, 4]))]
        self.first = rng.choice(["write", "write", "initialize", "none"])

    def inputs(self) -> list[np.ndarray]:
        numbers = np.random.default_rng(self.seed)
        return [
            numbers.integers(-9, 10, self.shape).astype(self.dtype) for _ in range(self.n_inputs)
        ]

    def run(self, lib: Any, pl: Any, interpret: Any) -> np.ndarray:
        """Return the output on jax, or on sagax."""
        sizes = [None if s else b for b, s in zip(self.blocks, self.squeezed, strict=True)]

        def spec(maps: list) -> Any:
            return pl.BlockSpec(sizes, lambda *ids: tuple(m(ids) for m in maps))

        block = [b for b, s in zip(self.blocks, self.squeezed, strict=True) if not s]
        options: dict[str, Any] = {}
        if self.scratch:
            options["scratch_shapes"] = [pl.ANY(tuple(block), self.dtype)]
        if self.alias:
            options["input_output_aliases"] = {0: 0}
        call = pl.pallas_call(
            self.kernel(lib, pl),
            lib.ShapeDtypeStruct(tuple(self.shape), self.dtype),
            grid=tuple(self.grid),
            in_specs=[spec(m) for m in self.maps],
            out_specs=spec(self.out_maps),
            interpret=interpret,
            **options,
        )
        return np.asarray(call(*self.inputs()))

    def kernel(self, lib: Any, pl: Any) -> Any:
        np_, lax = lib.numpy, lib.lax

        def kernel(*refs: Any) -> None:
            ins, out = refs[: self.n_inputs], refs[self.n_inputs]
            tmp = refs[-1] if self.scratch else None
            x = ins[0][...]
            if self.first == "write":
                out[...] = x
            elif self.first == "initialize":

                @pl.when(pl.program_id(len(self.grid) - 1) == 0)
                def _() -> None:
                    out[...] = np_.zeros_like(out)

            if tmp is not None:
                if self.seed % 3:
                    tmp[...] = x * 2
                else:

                    @pl.when(pl.program_id(0) == 0)
                    def _() -> None:
                        tmp[...] = np_.ones_like(tmp)

            for number in self.statements:
                self.statement(random.Random(number), lib, pl, lax, ins, out, tmp)

        return kernel

    def statement(
        self, rng: random.Random, lib: Any, pl: Any, lax: Any, ins: Any, out: Any, tmp: Any
    ) -> None:
        np_ = lib.numpy
        x = ins[rng.randrange(len(ins))]
        axis = rng.randrange(len(self.grid))
        kind = rng.choice(
            ["add", "scale", "when", "loop", "window", "row", "scratch", "select", "count", "max"]
        )
        n = out.shape[0] if out.shape else 0
        if kind == "add":
            out[...] += x[...]
        elif kind == "scale":
            out[...] = x[...] * 2 + pl.program_id(axis).astype(out.dtype)
        elif kind == "when":
            at = rng.randrange(self.grid[axis])

            @pl.when(pl.program_id(axis) == at)
            def _() -> None:
                out[...] = out[...] - x[...]

        elif kind == "loop":
            times = rng.choice([2, 3])

            def body(i: Any, total: Any) -> Any:
                return total + x[...] * i.astype(out.dtype)

            out[...] = lax.fori_loop(0, times, body, np_.zeros(out.shape, out.dtype))
        elif kind == "window" and n:
            size = rng.randrange(1, n + 1)
            start = pl.program_id(axis) + rng.randrange(0, 3)
            out[pl.ds(start, size)] = x[pl.ds(rng.randrange(n - size + 1), size)] + 1
        elif kind == "row" and n:
            out[rng.randrange(n)] = x[pl.program_id(axis)]
        elif kind == "scratch" and tmp is not None:
            out[...] = tmp[...] + x[...]
            tmp[...] = tmp[...] + 1
        elif kind == "select":
            out[...] = np_.where(x[...] > 0, x[...], out[...])
        elif kind == "count":
            out[...] += np_.full(out.shape, pl.num_programs(axis), out.dtype)
        elif kind == "max":
            out[...] = np_.maximum(out[...], np_.max(x[...]))


def outputs(lib: Any, pl: Any, interpret: Any) -> dict[str, np.ndarray]:
    """Return the output of each kernel, by its seed."""
    return {str(seed): Case(seed).run(lib, pl, interpret) for seed in range(COUNT)}
