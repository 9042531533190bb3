import sagax
import sagax.numpy as snp
from sagax.experimental import pallas as pl


def add_up(x_ref, o_ref):
    o_ref[...] += x_ref[...]  #~ SX0132 program (0,) of add_up reads 4 elements of outputs that no program has written


spec = pl.BlockSpec((4,), lambda i: (i,))
out = sagax.ShapeDtypeStruct((8,), snp.float32)
mode = pl.tpu.InterpretParams()
pl.pallas_call(add_up, out, grid=(2,), in_specs=[spec], out_specs=spec, interpret=mode)(snp.ones(8))
