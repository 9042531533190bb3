"""Measure the passes before lowering: each model with and without them, in turns in one process.

    python -m benchmarks.fencing [--without fences|loops|both] [MODEL ...]

For each model: how many fences it gets, CPU seconds of compiling, and of a call the median and the
ratio to the same program without. Models without the passes can take minutes to compile (`lorenz`).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import sagax
from benchmarks import models, waiting
from benchmarks.worker import open_library

MODELS: dict[str, waiting.MakeModel] = {
    "gpt64": waiting.gradient(waiting.gpt(64)),
    "gpt256": waiting.gradient(waiting.gpt(256)),
    "mlp": waiting.gradient(models.residual_mlp),
    "norm": waiting.gradient(models.residual_norm),
    "cnn": waiting.gradient(models.cnn),
    "unet": waiting.gradient(models.unet),
    "rnn": waiting.gradient(models.rnn),
    "heat": models.heat,
    "heat-grad": waiting.gradient(models.heat),
    "stencil": models.stencil,
    "sine-chain": models.sine_chain,
    "cheap-chain": models.cheap_chain,
    "fused": models.fused,
    "adam": models.adam,
    "adam-step": waiting.adam_step,
}
WITHOUT = {
    "fences": {"fusion_fences": "off"},
    "loops": {"reroll": "off"},
    "both": {"fusion_fences": "off", "reroll": "off"},
}
SECONDS = 4.0  # of measuring a model


def compiled(model: models.Model, options: dict) -> tuple[Callable[[], Any], int, float]:
    """The program as a function without arguments, its fences, the CPU seconds of compiling."""
    with sagax.config.context(enable_compilation_cache=False, **options):
        lowered = sagax.jit(lambda *operands: model.function(*operands)).lower(*model.operands)
        start = time.process_time()
        program = lowered.compile()
        seconds = time.process_time() - start
    fences = lowered.as_text().count("stablehlo.optimization_barrier")
    return lambda: sagax.block_until_ready(program(*model.operands)), fences, seconds


def cpu_time(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def compare(name: str, without: str) -> str:
    """One line of figures."""
    model = MODELS[name](open_library("sagax"))
    sides = [compiled(model, {}), compiled(model, WITHOUT[without])]
    calls = [side[0] for side in sides]
    count = max(1, round(0.02 / min(cpu_time(call, 2) for call in calls)))
    samples: list[list[float]] = [[], []]
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or len(samples[0]) < 4:
        for call, times in zip(calls, samples):
            times.append(cpu_time(call, count))
    run = [statistics.median(times) for times in samples]
    ratio = statistics.median(a / b for a, b in zip(*samples))
    return (
        f"{name:12} fences {sides[0][1]:4}   compiling {sides[0][2]:6.2f} s, without {sides[1][2]:6.2f} s"
        f"   a call {run[0] * 1e3:9.3f} ms, without {run[1] * 1e3:9.3f} ms, ratio {ratio:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="what fences and loops found again do to a model")
    parser.add_argument("--without", choices=WITHOUT, default="fences")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    given = parser.parse_args()
    unknown = [name for name in given.models if name not in MODELS]
    if unknown:
        parser.error(f"no model is called {unknown[0]!r}: {', '.join(MODELS)}")
    for name in given.models or MODELS:
        print(compare(name, given.without), flush=True)


if __name__ == "__main__":
    main()
