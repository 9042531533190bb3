"""Register rules of custom primitives: differentiation, batching and lowering."""

from sagax.interpreters import ad as ad
from sagax.interpreters import batching as batching
from sagax.interpreters import mlir as mlir
from sagax.interpreters import partial_eval as partial_eval
from sagax.interpreters import pxla as pxla
from sagax.interpreters import xla as xla
