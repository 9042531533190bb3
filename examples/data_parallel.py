"""Learns to read handwritten digits on many devices: each takes a part of every batch.

    python examples/data_parallel.py

The program of digits.py, run three times: on one device, on 8 devices of one process, and on 2
processes with 4 devices each. (The devices are virtual ones of this machine's CPU; on a cluster they
would be GPUs.) XLA adds up the gradients of all devices, so the losses are the same up to rounding:
the run prints by how much they differ.
"""

import argparse
import itertools
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from digits import BATCH_SIZE, LEARNING_RATE, MOMENTUM, batches, init_params, load_data, mean_loss

import sagax
import sagax.numpy as snp
from sagax import random
from sagax.sharding import AxisType, NamedSharding
from sagax.sharding import PartitionSpec as P

LAYOUTS = {  # processes, devices of each
    "1 device": (1, 1),
    "8 devices": (1, 8),
    "2 processes x 4 devices": (2, 4),
}
TOLERANCE = 1e-5


@sagax.jit
def train_step(params, velocity, images, labels):
    """One step of gradient descent with momentum. Nothing here says on how many devices."""
    value, grads = sagax.value_and_grad(mean_loss)(params, images, labels)
    velocity = sagax.tree.map(lambda v, g: MOMENTUM * v - LEARNING_RATE * g, velocity, grads)
    params = sagax.tree.map(lambda p, v: p + v, params, velocity)
    return params, velocity, value


def train(steps):
    """The losses of every step, and the seconds that all steps but the first took."""
    mesh = sagax.make_mesh((sagax.device_count(),), ("batch",), axis_types=(AxisType.Auto,))
    whole = NamedSharding(mesh, P())  # every device has all of it: the parameters
    divided = NamedSharding(mesh, P("batch"))  # every device has some rows: the examples

    # All processes compute the same starting values and the same order of the examples; each one
    # puts only its own rows of a batch onto its devices.
    data_key, train_key = random.split(random.key(0))
    (images, labels), _ = load_data(data_key)
    images, labels = np.asarray(images), np.asarray(labels)
    init_key, shuffle_key = random.split(train_key)
    params = sagax.device_put(init_params(init_key), whole)
    velocity = sagax.device_put(sagax.tree.map(snp.zeros_like, params), whole)

    share = BATCH_SIZE // sagax.process_count()
    mine = slice(share * sagax.process_index(), share * (sagax.process_index() + 1))
    history, start = [], 0.0
    order = batches(shuffle_key, len(images), epochs=1 + steps * BATCH_SIZE // len(images))
    for rows in itertools.islice(order, steps):
        rows = np.asarray(rows)[mine]
        batch = [
            sagax.make_array_from_process_local_data(divided, x[rows]) for x in (images, labels)
        ]
        params, velocity, value = train_step(params, velocity, *batch)
        history.append(value)
        if len(history) == 1:
            sagax.block_until_ready(value)
            start = time.perf_counter()
    return [float(value) for value in history], time.perf_counter() - start


def work(args):
    """One process of one run: process 0 writes what it found into a file."""
    sagax.config.update("num_cpu_devices", args.devices)
    if args.processes > 1:
        sagax.distributed.initialize(
            args.address,
            num_processes=args.processes,
            process_id=args.process,
            initialization_timeout=60,
        )
    losses, seconds = train(args.steps)
    if args.process == 0:
        found = {"losses": losses, "seconds": seconds, "devices": sagax.device_count()}
        Path(args.result).write_text(json.dumps(found), encoding="utf-8")


def run(processes, devices, steps, folder):
    """Starts the processes of one run and waits for them; what process 0 found."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    result = Path(folder) / f"{processes}x{devices}.json"
    # fmt: off
    options = [
        "--steps", steps, "--processes", processes, "--devices", devices,
        "--address", address, "--result", result,
    ]
    # fmt: on
    started = [
        subprocess.Popen([sys.executable, __file__, *map(str, options), "--process", str(number)])
        for number in range(processes)
    ]
    statuses = [process.wait() for process in started]
    if any(statuses):
        sys.exit(1)
    return json.loads(result.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100, help="steps of training")
    # for the processes that a run consists of
    parser.add_argument("--processes", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--devices", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.processes:
        work(args)
        return

    print(f"{'':24}  first loss   last loss   steps/s   largest difference")
    alone = None
    with tempfile.TemporaryDirectory() as folder:
        for name, (processes, devices) in LAYOUTS.items():
            found = run(processes, devices, args.steps, folder)
            losses = np.array(found["losses"])
            alone = losses if alone is None else alone
            difference = np.max(np.abs(losses - alone) / alone)
            rate = (args.steps - 1) / found["seconds"]
            print(f"{name:24}  {losses[0]:.6f}    {losses[-1]:.6f}  {rate:8.0f}   {difference:.1e}")
            if difference > TOLERANCE:
                sys.exit(f"the losses differ by more than {TOLERANCE:g} from those on one device")


if __name__ == "__main__":
    main()
