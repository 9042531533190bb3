import numpy as np

import sagax
from sagax.sharding import PartitionSpec as P

sagax.device_put(np.ones(2), P("x"))  #~ SX0214 device_put requires a non-empty mesh in
