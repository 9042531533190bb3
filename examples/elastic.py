"""Trains over several processes, and goes on with fewer when one is lost.

    python examples/elastic.py --processes 4 --lose 2 --at 12

starts 4 processes with one device each. They train a small network whose parameters are cut over all devices, and save
them every few steps. The run kills process 2 at step 12: the others get a DistributedError and end. The script then
starts 3 processes, which load the last checkpoint, now cut in three, and go on with the same batches. The losses are
those of a run without the loss, up to rounding.

Under Slurm or Kubernetes the launcher takes the part of `supervise`: docs/clusters.md.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import sagax
import sagax.numpy as snp
from sagax.experimental.array_serialization import pytree_serialization
from sagax.sharding import AxisType, NamedSharding
from sagax.sharding import PartitionSpec as P

BATCH_SIZE = 48  # 2, 3, 4 and 6 devices divide it
HIDDEN = 96
SAVE_EVERY = 5
RESTART = 75  # the status that asks for a new start (EX_TEMPFAIL)


def init_params():
    rng = np.random.default_rng(0)
    return {
        "hidden": rng.normal(0, 0.3, (HIDDEN, 16)).astype(np.float32),
        "out": rng.normal(0, 0.3, (HIDDEN, 4)).astype(np.float32),
    }


def batch(step):
    """The examples of a step: a function of its number, so that a new start repeats none and skips none."""
    rng = np.random.default_rng([1, step])
    x = rng.normal(0, 1, (BATCH_SIZE, 16)).astype(np.float32)
    return x, np.sin(x[:, :4]) + x[:, 4:8] * x[:, 8:12]


@sagax.jit
def train_step(params, x, y):
    def loss(params):
        return snp.mean((snp.tanh(x @ params["hidden"].T) @ params["out"] - y) ** 2)

    value, grads = sagax.value_and_grad(loss)(params)
    return sagax.tree.map(lambda p, g: p - 0.2 * g, params, grads), value


def spread(x, sharding):
    """Each process puts its part of an array that all know onto its devices."""
    return sagax.make_array_from_callback(x.shape, sharding, lambda index: x[index])


def last_checkpoint(folder):
    """The number of the last step that was saved as a whole, or 0."""
    # `save` moves a folder to its name once it is complete
    return max([int(p.name) for p in folder.glob("*") if p.name.isdigit()], default=0)


def train(folder, steps, lose):
    """Trains from the last checkpoint on; process 0 writes the losses of its steps."""
    mesh = sagax.make_mesh((sagax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    cut = NamedSharding(mesh, P("data"))
    start = last_checkpoint(folder)
    if start:
        shardings = {"hidden": cut, "out": cut}
        params = pytree_serialization.load(folder / str(start), shardings)
    else:
        params = sagax.tree.map(lambda p: spread(p, cut), init_params())
    for step in range(start, steps):
        if step == lose:
            os.kill(os.getpid(), signal.SIGKILL)
        x, y = batch(step)
        params, value = train_step(params, spread(x, cut), spread(y, cut))
        if (step + 1) % SAVE_EVERY == 0:
            pytree_serialization.save(params, folder / str(step + 1))
        if sagax.process_index() == 0:
            record = {"step": step, "loss": float(value), "devices": sagax.device_count()}
            with open(folder / "losses.jsonl", "a", encoding="utf-8") as file:
                print(json.dumps(record), file=file)


def work(args):
    """One process of the run. If another is lost, it ends with the status that asks for a new start."""
    if args.count > 1:
        sagax.distributed.initialize(
            args.address,
            num_processes=args.count,
            process_id=args.process,
            initialization_timeout=60,
            heartbeat_timeout_seconds=20,
            shutdown_timeout_seconds=20,
        )
    lose = args.at if args.process == args.lose else None
    try:
        train(Path(args.folder), args.steps, lose)
    except sagax.errors.DistributedError as error:
        print(f"process {args.process}: {error}", file=sys.stderr)
        sys.exit(RESTART)


def supervise(args, folder):
    """Starts processes until the run is complete, fewer each time that some are lost."""
    count, lose = args.processes, args.lose
    while count:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        # fmt: off
        options = [
            "--steps", args.steps, "--lose", lose, "--at", args.at,
            "--count", count, "--address", address, "--folder", folder,
        ]
        # fmt: on
        command = [sys.executable, __file__, *map(str, options)]
        started = [subprocess.Popen([*command, "--process", str(i)]) for i in range(count)]
        statuses = [process.wait() for process in started]
        if not any(statuses):
            return
        lost = sum(status < 0 for status in statuses)  # ended by a signal
        if not lost or any(status not in (0, RESTART) for status in statuses if status >= 0):
            sys.exit(
                f"the processes ended with {statuses}: an error, which a new start would repeat"
            )
        print(f"{lost} of {count} processes were lost; {count - lost} go on", file=sys.stderr)
        count, lose = count - lost, -1
    sys.exit("no process is left")


def main():
    parser = argparse.ArgumentParser(description="Train over processes that may be lost.")
    parser.add_argument("--processes", type=int, default=4, help="how many to start with")
    parser.add_argument("--steps", type=int, default=20, help="steps of training")
    parser.add_argument("--lose", type=int, default=-1, help="the process to kill (default: none)")
    parser.add_argument("--at", type=int, default=12, help="the step at which it is killed")
    parser.add_argument("--folder", help="for checkpoints and losses (default: a new one)")
    # for the processes that a run consists of
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.count:
        work(args)
        return
    folder = Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    supervise(args, folder)
    lines = (folder / "losses.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        print("step {step:3}   loss {loss:.6f}   on {devices} devices".format(**record))


if __name__ == "__main__":
    main()
