"""Define limits tuned by measurement, each with its unit and the benchmark that shows it.

A comment names rows of `make bench ARGS="--only ROW ..."`; a name stands for all rows that begin with it.
Bounds of caches, time limits, and facts about XLA and LAPACK are no tuning: they stand where they are used.
Read a limit as `tuning.NAME` at each use, so that a change for a test or a trial takes effect.
"""

from __future__ import annotations

# --- eager operations: NumPy or XLA -------------------------------------------------------------------

# Elements of each operand and result up to which NumPy computes an eager operation, where its bits are
# XLA's. Dispatch to XLA takes longer than small operations; large ones gain from XLA's threads.
# Rows: eager, split, normal-10.
NUMPY_MAX_ELEMENTS = 1 << 14

# Primitives, weighted by `host_cost`, up to which an eager function of several stays with NumPy for good. A compiled
# call takes about as long as so many primitives through NumPy. Rows: eager-linspace, eager-take, eager-clip, tril, outer.
NUMPY_MAX_PRIMITIVES = 2

# Calls through NumPy after which an eager function of more primitives is compiled. Compiling takes about
# as long as so many calls. Rows: eager-linspace, new-shapes.
COMPILE_AFTER_NUMPY_CALLS = 1000

# Calls that NumPy refused (IndexError) after which it is not tried first any more. Row: eager-take.
NUMPY_MAX_REFUSALS = 8

# Bytes from which on a NumPy array is copied to an aligned address, where XLA uses it without another
# copy. Rows: eager-asarray, put.
ALIGNED_COPY_MIN_BYTES = 1 << 16

# Bytes of a NumPy operand of a jitted function up to which its contents are copied to memory that XLA reads without a
# copy, instead of being put on the device. Rows: call.NumPy arrays, call.pytree of NumPy arrays.
LENT_MEMORY_MAX_BYTES = 1 << 13

# --- eager transformations ----------------------------------------------------------------------------

# The call of a signature from which on an eager `grad(f)(x)` may be compiled. Rows: unjitted.
EAGER_TRANSFORM_COMPILE_FROM_CALL = 3

# Calls that must follow a compilation for it to pay, for each equation of the jaxpr: compiling an equation
# takes about as long as running it 20 times. It is counted, not timed: runs stay alike. Rows: unjitted.
EAGER_TRANSFORM_CALLS_PER_EQUATION = 0.05

# --- dispatch of jitted functions ---------------------------------------------------------------------

# Keys of a dict argument from which on its leaves are found by a noted order rather than by XLA's
# registry. Row: dispatch-dict.
NOTED_DICT_MIN_KEYS = 8

# Bytes of a captured NumPy array up to which a jitted function compares its contents at each call.
# No row captures one; jit-call is the same call without.
GUARD_MAX_ARRAY_BYTES = 4096

# The same for an eager transformation, whose calls take longer. No row; unjitted is the same without.
EAGER_TRANSFORM_MAX_ARRAY_BYTES = 1 << 16

# --- tracing and lowering -------------------------------------------------------------------------------

# How many times rarer Python's full garbage collections are meanwhile. They come after 20 million objects more than were
# freed, at the defaults of Python 3.13: some 500,000 jitted functions. Rows: `--only growth`.
POSTPONED_COLLECTIONS = 100

# --- NumPy's and random's functions -------------------------------------------------------------------

# Comparisons (elements times queries) up to which `searchsorted` compares all, instead of bisecting.
# No row yet: time `searchsorted` under jit for both methods.
SEARCHSORTED_MAX_COMPARISONS = 1 << 14
# Elements of the sorted array up to which it compares all, whatever the number of queries. No row yet.
SEARCHSORTED_MAX_ELEMENTS = 8

# Elements of a sparse row of mean length from which products with vectors read windows: where the begins of rows are
# given (True), and where they are found by a search (False). For rows of 1 to 100 elements. Row: sparse-vector.
SPARSE_WINDOW_MIN_ELEMENTS = {True: 4, False: 64}

# Elements, and results, from which `nonzero(size=...)` counts prefixes instead of sorting positions: a quarter of the
# time for a million. Rows: `--sweep --only numpy.nonzero`.
NONZERO_MIN_COUNTED = 1 << 10

# Slices up to which `delete` and `insert` at known positions join them instead of gathering elements. Rows:
# `--sweep --only numpy.insert numpy.delete`.
JOINED_SLICES_MAX = 16

# Comparisons up to which `isin` compares all, instead of sorting. No row yet: time `isin` likewise.
ISIN_MAX_COMPARISONS = 1 << 16

# Elements from which on an eager permutation is sorted by NumPy instead of XLA. Rows: permutation, choice.
PERMUTATION_MIN_ELEMENTS_ON_HOST = 1 << 12

# --- lowering -----------------------------------------------------------------------------------------

# Elements of a window up to which the derivatives of `reduce_window` by maximum are selections from
# slices on the CPU, instead of loops that XLA makes slow; and elements along a dimension up to which reductions
# themselves are. Rows: kernel-window, pool.
WINDOW_MAX_SLICES = 16
# Elements of a window up to which one loop reads all slices; beyond, it is one dimension after the other. Rows: pool.
WINDOW_MAX_SLICES_AT_ONCE = 9

# Rows or columns of a product up to which XLA's CPU code reads the other operand as it lies faster than
# transposed, and elements of that operand from which on. Rows: `--sweep --only numpy.matmul`, narrow.
NARROW_PRODUCT_MAX_COLUMNS = 64
NARROW_PRODUCT_MIN_ELEMENTS = 1 << 12

# Elements from which on a sort of floats, or of several arrays, sorts integers that hold key and position.
# Rows: kernel-sort, `--sweep --only numpy.sort numpy.argsort`.
PACKED_SORT_MIN_ELEMENTS = 1 << 8

# Elements from which on a jitted function calls NumPy to sort, by the setting `host_sorts`. The call takes 20 µs, as much as
# XLA's sort of 500, and may wait 5 ms for Python's lock if other threads compute, as long as XLA sorts the greater number.
# Rows: op-sort, op-argsort, `--sweep --only numpy.sort`.
HOST_SORT_MIN_ELEMENTS = {"auto": 1 << 16, "always": 1 << 10}

# Other operations of a function, for each sorted element, up to which "auto" applies: they take at most as long as NumPy's
# sort saves (70 ns an element). The same rows.
HOST_SORT_MAX_OTHER_WORK = 64

# Elements along the sorted dimension from which on single positions of a sorted array are searched bit by bit.
# Rows: `--sweep --only numpy.median numpy.quantile`.
SELECTION_MIN_ELEMENTS = 1 << 9

# Elements of a kernel up to which a depthwise convolution is a sum of as many slices. Rows: conv-depthwise.
DEPTHWISE_MAX_KERNEL = 64
# Groups up to which a convolution is one for each of them: groups of features, and those of a derivative by the
# kernel, which take XLA up to 200 times as long. Rows: conv-grouped.
CONVOLUTION_MAX_SPLIT_GROUPS = 16
CONVOLUTION_MAX_SPLIT_BATCH_GROUPS = 64

# Elements from which on the sine, cosine and tangent of float32 and the logarithm of float64 are formulas that SIMD vectors
# take; for fewer, compiling one (17 ms) takes as long as it saves in hundreds of calls. Rows: op-sin, sine-chain.
SINE_MIN_ELEMENTS = 1 << 16

# Elements from which on maxima and minima look for NaNs, which XLA of jaxlib 0.12 loses (found at 4,096 elements, not
# at 2,048). Rows: `--sweep --only numpy.max numpy.min`.
LEAST_SIZE_THAT_LOSES_NAN = 1 << 11
# Elements from which on slices of an array are combined first, the numbers of slices, along the whole of an array or along
# rows, and elements that must lie together in a slice. Rows: `--sweep --only numpy.max numpy.min`, op-max.
FOLDED_EXTREMUM_MIN_ELEMENTS = 1 << 16
FOLDED_EXTREMUM_SLICES = 16
FOLDED_ROWS_SLICES = 32
FOLDED_EXTREMUM_MIN_RUN = 16

# Elements along the axis, and in all, from which on `argmax` looks for the maximum first, and then for its first
# position. Rows: op-argmax.
ARGMAX_MIN_LENGTH = 64
ARGMAX_MIN_ELEMENTS = 1 << 12

# Rows of a tridiagonal matrix from which on eigenvalues alone are found by bisection. Rows: `--sweep --only
# scipy.linalg.eigh_tridiagonal`.
BISECTION_MIN_SIZE = 32

# Rows of matrices up to which, and number of matrices from which on, Cholesky factors are computed together.
# Rows: op-cholesky.
SMALL_CHOLESKY_MAX_SIZE = 8
SMALL_CHOLESKY_MIN_COUNT = 64

# Size of a loop body up to which LLVM unrolls, the default of the option `unroll_threshold`; LLVM's own is
# 300. At 60 heat-grad takes 1.54 of its time, at 150 a third of the gain is lost.
# Rows: heat-grad, rnn-grad, cnn-grad, fused.
UNROLL_THRESHOLD = 100
# The same where most work is the reduction of columns of integers or booleans: LLVM's own. Rows: op-any, op-max.
COLUMNS_UNROLL_THRESHOLD = 300
# Elements of such columns from which on it is used, and the other operations for each. Rows: op-any, op-max.
COLUMNS_MIN_ELEMENTS = 1 << 12
COLUMNS_MAX_OTHER_WORK = 16

# Equations from which on a jaxpr is searched for repetitions; shorter ones do not even load the pass.
# Rows: first-result, new-shapes.
REROLL_MIN_JAXPR = 16

# Iterations that repeated equations must have to become a scan. Rows: steps, residual.
REROLL_MIN_ITERATIONS = 16

# Equations, in all iterations of all loops, from which on compiling them takes longer than a loop costs.
# Rows: steps, residual, adam-first.
REROLL_MIN_EQUATIONS = 256
# The same once one loop was found, such as the backward beside the forward pass. Rows: steps, residual.
REROLL_MIN_EQUATIONS_NEXT = 64
# The same for a loop with a large carry: its unrolled iterations gain from being fused with each other.
# Rows: residual-mlp-first, gpt64, gpt256.
REROLL_MIN_EQUATIONS_LARGE_CARRY = 2048
# Bytes of a carry above which it is large. Rows: residual, gpt64, gpt256.
REROLL_MAX_SMALL_CARRY = 1 << 16

# Bytes of separate arrays that may be copied together for a loop. Rows: residual, gpt256.
REROLL_MAX_STACKED_BYTES = 1 << 20

# Multiplications of an iteration, above which a library does them: in a small loop XLA's own, slower
# code would. Rows: residual, gpt64-run.
REROLL_MAX_MULTIPLICATIONS = 1 << 16

# Loops searched for in one jaxpr, lengths of an iteration tried for each, and equations by which a
# repetition is noticed: they bound the search to some milliseconds. Rows: gpt-lower-grad, lower.
REROLL_MAX_LOOPS = 16
REROLL_MAX_PERIODS = 6
REROLL_WINDOW = 8

# --- memory and the cache on disk ---------------------------------------------------------------------

# An entry of the cache is used only if loading it takes at most this part of the time of compiling.
# Rows: adam-again, first-result.
CACHE_MAX_LOADING_PART = 0.5

# With `keep_working_memory`: the part (one in so many) of the machine's memory that one executable may
# take. Rows: gpt256-run with the option, and memory.
WORKING_MEMORY_MAX_PART = 64

# Memory maps that a process may have (`vm.max_map_count`): executables are evicted when one in so many is
# left, and none is compiled when fewer than the least are left. An executable takes about six, one with
# many kernels some hundred. No row: tests/runtime/test_map_limit.py shows it.
MAPS_EVICT_PART = 8
MAPS_MIN_LEFT = 512
# The maps that are left are counted again after one executable for so many of them. Row: new-shapes.
MAPS_PER_COUNT = 64

# --- random draws -------------------------------------------------------------------------------------

# Sizes of the last dimension below which a draw is computed along another one: LLVM does not vectorize so
# short a loop around a cipher. Multiples of 8 are well as they are. Rows: draws-keys, draws-integral, draws-elbo.
FLAT_DRAW_MAX_LAST_DIM = 16
# Elements from which on that pays for the pass that brings them into shape. Rows: draws-elbo, draws-hmc.
FLAT_DRAW_MIN_ELEMENTS = 64
# Keys from which on a draw for each of them runs along the keys. Rows: draws-keys, draws-hmc.
FLAT_DRAW_MIN_KEYS = 16

# --- references ---------------------------------------------------------------------------------------

# Elements of a reference from which on eager writes to a part of it are in place. One takes 140 microseconds
# for any size, as long as a copy of so many elements. No row: tests/higher_order/test_references.py shows it.
IN_PLACE_MIN_ELEMENTS = 1 << 16
