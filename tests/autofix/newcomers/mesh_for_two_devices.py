# error: ValueError
# line: 24
# depends: -
# fix: device_count
# result: (8,) 24.0

import argparse

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-parallel", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    return parser.parse_args(argv)


def main(argv=()):
    args = parse(argv)
    mesh = jax.make_mesh((args.data_parallel,), ("data",))
    batch = jax.device_put(jnp.ones((args.batch, 3)), NamedSharding(mesh, P("data")))
    per_example = jax.jit(lambda x: (x**2).sum(axis=1))(batch)
    print(per_example.shape, float(per_example.sum()))


main()
