"""Measure steps beside their plans, plan published runs, and write the tables of docs/plan.md.

Run `python scripts/plan_tables.py`; `--only TEXT` runs what has this in its name (such as "measured 1x4", "MPT 7B", or
a text that nothing has, to write the tables only). Results are kept in benchmarks/results/plan.json, from which the tables
are written. Each number of devices is measured in processes of its own, whose devices share the cores of this machine:
virtual devices of one process ("1x4"), and processes of one device over loopback ("4x1").
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "plan.md"
RESULTS = ROOT / "benchmarks" / "results" / "plan.json"
DEVICES = (1, 2, 4, 8)  # of one process
PROCESSES = (2, 4)  # of one device
RUNS = 7

sys.path.insert(0, str(ROOT / "tests" / "plan"))


# --- measured steps -------------------------------------------------------------------------------------


def cases(count: int) -> list[tuple]:
    """Return (name, step, arguments, mesh, specs) of each step for `count` devices."""
    import models  # pyright: ignore[reportMissingImports]  # of the tests
    import numpy as np

    from sagax.sharding import PartitionSpec as P

    sizes = {"layers": 4, "width": 256, "heads": 4, "vocabulary": 512, "length": 128}
    gpt = models.GPT(**sizes)
    params, images, labels = models.digits_structs(4096 * count)
    rng = np.random.default_rng(0)
    digits = (
        {k: rng.normal(0, 0.1, v.shape).astype("float32") for k, v in params.items()},
        rng.normal(0, 1, images.shape).astype("float32"),
        rng.integers(0, 10, labels.shape).astype("int32"),
    )
    state = gpt.arrays(2 * count)
    found: list[tuple] = [
        ("digits, data", models.digits_step, digits, {"data": count}, (P(), P("data"), P("data"))),
        ("GPT, data", gpt.step, state, {"data": count}, gpt.specs("data")),
    ]
    if count == 1:
        return found
    kept = models.GPT(**sizes, rows=("fsdp",))
    found.append(("GPT, FSDP", kept.step, state, {"fsdp": count}, gpt.specs(None, "fsdp")))
    specs = gpt.specs(None, None, "tensor")
    found.append(("GPT, tensor", gpt.step, state, {"tensor": count}, specs))
    if count > 2:
        mesh = {"fsdp": count // 2, "tensor": 2}
        found.append(("GPT, both", kept.step, state, mesh, gpt.specs(None, "fsdp", "tensor")))
    stages = min(count, 4)
    pipelined = models.GPT(**sizes, microbatches=stages)
    mesh = {"pipeline": stages, "data": count // stages}
    specs = gpt.specs("data", stages="pipeline")
    found.append(("GPT, pipeline", pipelined.step, state, mesh, specs))
    return found


def measure(processes: int, process: int, devices: int, address: str, steps: str) -> list[dict]:
    """Measure and plan the steps with `steps` in their names on the devices of all processes."""
    import sagax

    sagax.config.update("num_cpu_devices", devices)
    if processes > 1:
        sagax.distributed.initialize(
            address, num_processes=processes, process_id=process, initialization_timeout=120
        )
    import numpy as np
    from test_counts import simple_count  # pyright: ignore[reportMissingImports]

    from sagax.sharding import AxisType, Mesh, NamedSharding
    from sagax.sharding import PartitionSpec as P

    hardware = sagax.plan.Hardware.measured()
    found = []
    for name, step, args, mesh, specs in cases(sagax.device_count()):
        if steps not in name:
            continue
        array = np.array(sagax.devices()).reshape(tuple(mesh.values()))
        real = Mesh(array, tuple(mesh), (AxisType.Auto,) * len(mesh))
        shardings = sagax.tree.map(
            lambda s, real=real: NamedSharding(real, s), specs, is_leaf=lambda s: isinstance(s, P)
        )
        flat, tree = sagax.tree.flatten(args)
        spread = sagax.tree.leaves(sagax.tree.broadcast(shardings, args))
        placed = tree.unflatten([_placed(x, s) for x, s in zip(flat, spread, strict=True)])
        with sagax.set_mesh(real):
            compiled = sagax.jit(step).lower(*placed).compile()
            runs = []
            sagax.block_until_ready(compiled(*placed))
            for _ in range(RUNS):
                start = time.perf_counter()
                sagax.block_until_ready(compiled(*placed))
                runs.append(time.perf_counter() - start)
        if process:
            continue
        structs = sagax.tree.map(lambda x: sagax.ShapeDtypeStruct(x.shape, x.dtype), args)
        plan = sagax.plan(step, *structs, mesh=mesh, in_shardings=specs, hardware=hardware)
        stats = compiled.memory_analysis()
        exact = stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
        found.append(
            {
                "step": name,
                "devices": f"{processes} processes" if processes > 1 else f"{devices}",
                "order": (processes, devices),
                "best": plan.timing.best,
                "worst": plan.timing.worst,
                "measured": statistics.median(runs),
                "memory": plan.memory.peak / (exact - stats.alias_size_in_bytes),
                "bytes": sum(c.total_bytes for c in plan.collectives),
                "compiled bytes": sum(simple_count(compiled.as_text()).values()),
            }
        )
    return found


def _placed(x: Any, sharding: Any) -> Any:
    import numpy as np

    import sagax

    host = np.asarray(x)
    return sagax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


def run(processes: int, devices: int, steps: str) -> list[dict]:
    """Measure in processes of their own; return what process 0 found."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, __file__, "--measure", f"{processes},{devices},{address}"]
    command += ["--steps", steps]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "JAX_PLATFORMS": "cpu"}
    started = [
        subprocess.Popen(
            [*command, "--process", str(i)], env=env, stdout=subprocess.PIPE, text=True
        )
        for i in range(processes)
    ]
    outputs = [p.communicate()[0] for p in started]
    if any(p.returncode for p in started):
        sys.exit(f"measuring {processes} processes with {devices} devices failed")
    return json.loads(outputs[0].splitlines()[-1])


def measured_table(results: dict[str, list[dict]]) -> str:
    rows = [r for found in results.values() for r in found]
    lines = [
        "| step | devices | best case | worst case | measured | measured / worst | all runs | bytes / XLA's | memory / XLA's |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for r in sorted(rows, key=lambda r: (r["step"], *r["order"])):
        times = [f"{r[k] * 1e3:.3g} ms" for k in ("best", "worst", "measured")]
        ratio = f"{r['measured'] / r['worst']:.2f}"
        exchanged = f"{r['bytes'] / r['compiled bytes']:.3f}" if r["compiled bytes"] else "0 of 0"
        lines.append(
            f"| {r['step']} | {r['devices']} | {' | '.join(times)} | {ratio} "
            f"| {min(r['shares']):.2f}-{max(r['shares']):.2f} | {exchanged} | {r['memory']:.3f} |"
        )
    for what, several in (("virtual devices", False), ("processes", True)):
        here = [r for r in rows if (r["order"][0] > 1) == several]
        if not here:
            continue
        now = [r["measured"] / r["worst"] for r in here]
        ever = [share for r in here for share in r["shares"]]
        lines += [
            "",
            f"On {what}, the measured time is {min(now):.2f} to {max(now):.2f} times the worst case "
            f"({min(ever):.2f} to {max(ever):.2f} in all runs, on several processors).",
        ]
    return "\n".join(lines)


# --- published runs ---------------------------------------------------------------------------------------

MOSAIC = "MosaicML, llm-foundry, scripts/train/benchmarking/README.md"
MEGATRON = "Narayanan et al., SC'21, arXiv:2104.04473, table 1"
PALM = "Chowdhery et al., arXiv:2204.02311, table 3"
# layers, width, heads of the models
MPT = {
    "7B": (32, 4096, 32),
    "13B": (40, 5120, 40),
    "30B": (48, 7168, 56),
    "70B": (80, 8192, 64),
}
# MPT: hardware, model, sequences of a device in a microbatch, recomputation, tokens/s of a GPU
MOSAIC_RUNS = [
    ("h100-8", "7B", 6, False, 10643),
    ("h100-8x8", "13B", 2, False, 4800),
    ("h100-8x4", "30B", 14, True, 2308),
    ("h100-8x8", "70B", 8, True, 1039),
    ("a100-8", "7B", 6, False, 4641),
    ("a100-8", "13B", 2, False, 2262),
    ("a100-8", "30B", 3, True, 916),
    ("a100-8x8", "70B", 8, True, 410),
]
# Megatron-LM: parameters, (layers, width, heads), tensor, pipeline, GPUs, sequences in a batch, TFLOP/s of a GPU
MEGATRON_RUNS = [
    ("3.6B", (30, 3072, 32), 2, 1, 64, 512, 138),
    ("18.4B", (40, 6144, 48), 8, 1, 256, 1024, 135),
    ("39.1B", (48, 8192, 64), 8, 2, 512, 1536, 138),
    ("145.6B", (80, 12288, 96), 8, 8, 1536, 2304, 148),
]


def published_runs() -> dict[str, tuple]:
    """Return for each published run the model, mesh, specs, hardware, sequences in a batch, and tokens/s of a chip."""
    import models  # pyright: ignore[reportMissingImports]

    import sagax

    def gpt(sizes, vocabulary, rows, remat=True, microbatches=0) -> Any:
        options = {"rows": rows, "remat": remat, "microbatches": microbatches, "flash": True}
        return models.GPT(*sizes, vocabulary, 2048, "bfloat16", **options)

    found: dict[str, tuple] = {}
    for hardware, name, rows, remat, rate in MOSAIC_RUNS:
        model = gpt(MPT[name], 50368, ("fsdp",), remat)
        count = sagax.plan.Hardware.named(hardware).devices
        specs = model.specs(None, "fsdp")
        label = f"MPT {name}, {hardware}, FSDP"
        found[label] = (model, {"fsdp": count}, specs, hardware, rows * count, rate)
    for name, sizes, tensor, stages, count, batch, tflops in MEGATRON_RUNS:
        layers, width, _ = sizes
        data = count // (tensor * stages)
        share = batch // data  # sequences of a data parallel rank
        # several stages: microbatches of one sequence; one stage: one microbatch of at most 4
        share = share if stages > 1 else min(share, 4)
        model = gpt(sizes, 51200, ("data",), microbatches=share if stages > 1 else 0)
        mesh = {"pipeline": stages, "data": data, "tensor": tensor}
        mesh = {k: n for k, n in mesh.items() if n > 1}
        specs = model.specs("data", None, "tensor", "pipeline" if stages > 1 else None)
        # the paper's formula for the FLOPs of a token, recomputation included
        attention, head = 2048 / (6 * width), 51200 / (16 * layers * width)
        per_token = 96 * layers * width**2 * (1 + attention + head)
        label = f"GPT {name}, {count} A100, tensor {tensor}, pipeline {stages}"
        rate = tflops * 1e12 / per_token
        found[label] = (model, mesh, specs, f"a100-8x{count // 8}", share * data, rate)
    # The layers of PaLM differ (SwiGLU, one key head): the rate is that of its utilization, 46.2 %, with the FLOPs of
    # the model that is planned.
    model = gpt((118, 18432, 48), 258048, ("data", "fsdp"))
    rate = 0.462 * 275e12 / (model.matmul_flops(1) * 3 / 4)
    specs = model.specs("data", "fsdp", "tensor")
    mesh = {"data": 2, "fsdp": 256, "tensor": 12}
    found["PaLM 540B, 6144 TPU v4, FSDP 256, tensor 12"] = (
        model,
        mesh,
        specs,
        "v4-3072x2",
        2048,
        rate,
    )
    return found


def plan_published(model, mesh, specs, hardware, batch, rate) -> dict:
    """Plan a published run."""
    import sagax

    plan = sagax.plan(
        sagax.jit(model.step, donate_argnums=0),
        *model.structs(batch),
        mesh=mesh,
        in_shardings=specs,
        hardware=hardware,
    )
    tokens = batch * model.length / plan.devices
    return {
        "published": rate,
        "best": tokens / plan.timing.best,
        "worst": tokens / plan.timing.worst,
        "memory": plan.memory.without_widening / plan.hardware.memory,
    }


def published_table(results: dict[str, dict]) -> str:
    lines = [
        "| run | published | plan, worst | plan, best | published / worst | published / best | memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = [(name, results[name]) for name in published_runs() if name in results]
    for name, r in rows:
        rates = " | ".join([f"{r[k]:,.0f}" for k in ("published", "worst", "best")])
        shares = " | ".join([f"{r['published'] / r[k]:.2f}" for k in ("worst", "best")])
        lines.append(f"| {name} | {rates} | {shares} | {r['memory']:.0%} |")
    low, high = ([r["published"] / r[k] for _, r in rows] for k in ("best", "worst"))
    lines += [
        "",
        f"Published rates are {min(high):.2f} to {max(high):.2f} times those of the worst case, and {min(low):.2f} to "
        f"{max(low):.2f} times those of the best case. Sources: {MOSAIC}; {MEGATRON}; {PALM}.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run only what has this text in its name")
    parser.add_argument(
        "--steps", default="", help="measure only steps with this text in their names"
    )
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        processes, devices, address = args.measure.split(",")
        print(json.dumps(measure(int(processes), args.process, int(devices), address, args.steps)))
        return
    counts = [*((1, n) for n in DEVICES), *((n, 1) for n in PROCESSES)]
    work: dict[tuple[str, str], Any] = {
        ("measured", f"{p}x{n}"): functools.partial(run, p, n, args.steps) for p, n in counts
    }
    for name, parts in published_runs().items():
        work["published", name] = functools.partial(plan_published, *parts)
    for (table, name), call in work.items():
        if args.only in f"{table} {name}":
            found = call()
            print(f"{table} {name}: {found}", file=sys.stderr, flush=True)
            results = read_results()
            if table == "measured":  # keep what was measured before, of other steps
                new = {r["step"] for r in found}
                shares = {r["step"]: r["shares"] for r in results[table].get(name, ())}
                for r in found:
                    share = round(r["measured"] / r["worst"], 4)
                    r["shares"] = sorted([*shares.get(r["step"], ()), share])
                found += [r for r in results[table].get(name, ()) if r["step"] not in new]
            results[table][name] = found
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    results = read_results()
    for table, written in (("measured", measured_table), ("published", published_table)):
        if results[table]:
            replace(table, written(results[table]))


def read_results() -> dict[str, dict]:
    if RESULTS.exists():
        return json.loads(RESULTS.read_text(encoding="utf-8"))
    return {"measured": {}, "published": {}}


def replace(name: str, table: str) -> None:
    """Write a table into the page, between the comments with its name."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    pattern = re.escape(start) + ".*?" + re.escape(end)
    changed, count = re.subn(pattern, lambda _: start + table + end, text, flags=re.DOTALL)
    if count != 1:
        sys.exit(f"{PAGE} has no place for the table {name!r}")
    PAGE.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
