"""Extend sagax from libraries: jaxprs, custom primitives, backends, random generators."""

from sagax.extend import backend as backend
from sagax.extend import core as core
from sagax.extend import ifrt_programs as ifrt_programs
from sagax.extend import linear_util as linear_util
from sagax.extend import lowering as lowering
from sagax.extend import mlir as mlir
from sagax.extend import pallas as pallas
from sagax.extend import random as random
from sagax.extend import sharding as sharding
from sagax.extend import source_info_util as source_info_util
from sagax.extend import xla as xla
