# Two processes of one program; this one starts the other.
import os
import socket
import subprocess
import sys

import numpy as np

import sagax
from sagax.sharding import NamedSharding, PartitionSpec as P

if "MEET_AT" in os.environ:
    me = 1
else:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        os.environ["MEET_AT"] = f"127.0.0.1:{probe.getsockname()[1]}"
    other = subprocess.Popen([sys.executable, __file__], stderr=subprocess.DEVNULL)
    me = 0
sagax.distributed.initialize(os.environ["MEET_AT"], num_processes=2, process_id=me)
mesh = sagax.make_mesh((2,), ("rows",))
rows = np.arange(2.0) + 2 * me
x = sagax.make_array_from_process_local_data(NamedSharding(mesh, P("rows")), rows)
if me == 0:
    print(np.asarray(x))  #~ SX0212 Fetching value for an array that spans non-addressable
