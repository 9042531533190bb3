import numpy as np

import sagax

f = sagax.jit(lambda prices: prices * 2)
with sagax.transfer_guard("disallow"):
    f(np.ones(3, np.float32))  #~ SX0216 Disallowed host-to-device transfer
