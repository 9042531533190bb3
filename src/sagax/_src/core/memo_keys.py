"""Define the keys of a jaxpr's `memo`, which caches derived facts and jaxprs.

Where a key's comment begins with names in parentheses, the key is a tuple with these values. It also
holds everything else that the derived value depends on, such as settings.
"""

from __future__ import annotations

# --- facts about a jaxpr -------------------------------------------------------------------------------

# The variables that nothing reads after an equation, by the equation's index.
LAST_USES = "last uses"
# True: every equation and input is read, so that pruning changes nothing.
IS_PRUNED = "is pruned"
# True: `enable_checks` found it well formed and well typed.
IS_VERIFIED = "is verified"
# How many outputs are results; residuals follow.
RESULTS = "results"
# Whether all its primitives, at any depth, have lowering rules.
HAS_LOWERING = "has lowering"
# Whether it contains a collective, at any depth.
HAS_COLLECTIVES = "has collectives"
# Whether it contains operations or values of types that libraries add, at any depth.
HAS_HIGH = "has high"
# The jaxpr with arrays in place of such values; and the constants that it got.
EXPANDED = "expanded"
CONSTANTS_OF_EXPANSION = "constants of expansion"
# Its collectives, at any depth: (name, axes) of each.
COLLECTIVES = "collectives"
# Whether it contains a symbolic size.
HAS_SYMBOLIC_SIZES = "has symbolic sizes"
# The device meshes in its parameters.
MESHES = "meshes"
# A hashable form, equal for jaxprs that differ only in variable names; None without one.
STRUCTURE = "structure"
# Whether it computes with random keys; and the indices of the keys that it consumes.
HAS_RANDOM_KEYS = "has random keys"
KEY_REUSE = "key reuse"
# (constants) The axes along which to cast each constant of a loop's body before the loop.
CONSTANT_CASTS = "constant casts"

# --- transformed jaxprs ---------------------------------------------------------------------------------

# (nonzero tangents, instantiated outputs) Forward derivative, and the marks of outputs with a tangent.
JVP = "jvp"
# (nonzero tangents, instantiated outputs) The split into known and linear jaxpr.
LINEARIZE = "linearize"
# (linear inputs, nonzero cotangents, masked) Transpose, and the marks of inputs with a cotangent.
TRANSPOSE = "transpose"
# (first linear input, masked) Transpose that takes and gives all cotangents.
TRANSPOSE_FROM = "transpose from"
# (axis, mapped inputs, forced outputs) Batched form, and the batch dimension of each output.
BATCH = "batch"
# (used outputs, required inputs) The used part, and the inputs that it needs.
PRUNED = "pruned"
# (owned inputs, returned references, final) With values in place of references.
DISCHARGED = "discharged"
# (saved variables) remat's forward pass, which also returns the residuals.
REMAT_FORWARD = "remat forward"
# (linearized jaxpr, saved variables) remat's backward pass, which recomputes unsaved values.
REMAT_BACKWARD = "remat backward"
# (bar, what else the caller does, avals) A loop under the mark that gives it a progress bar.
WITH_BAR = "with bar"
# With bars that say that their loop runs a second time.
RECOMPUTED = "recomputed"

# --- other inputs and outputs ---------------------------------------------------------------------------

# Constants as leading inputs.
HOISTED_CONSTANTS = "hoisted constants"
# (constants) Leading inputs as constants.
INPUTS_TO_CONSTANTS = "inputs to constants"
# (order) Inputs in another order.
PERMUTED_INPUTS = "permuted inputs"
# (index, avals) With additional inputs, which are unused.
MORE_INPUTS = "more inputs"
# (variables) Other outputs.
OTHER_OUTPUTS = "other outputs"
# (outputs kept) Fewer outputs.
SOME_OUTPUTS = "some outputs"
# (constants, outputs dropped, parts) Parts of a loop's carry as constants.
CARRY_TO_CONSTANTS = "carry to constants"
# (variables) The loop-invariant part of a scan's body.
LOOP_INVARIANTS = "loop invariants"
# (index, result) An effect token as input, and as a result.
WITH_TOKEN = "with token"

# (settings, avals, grid, blocks, ...) A Pallas kernel over its grid, on values.
KERNEL_OVER_GRID = "kernel over grid"
# (positions and values) A kernel with captured numbers written into it.
KERNEL_NUMBERS = "kernel numbers"
# (name, options, axes of vmap) A jaxpr that calls the kernel of such a form.
KERNEL_CALL = "kernel call"

# --- branches and loops ---------------------------------------------------------------------------------

# (first constant, avals) A branch of cond with the constants of all branches as inputs.
BRANCH_CONSTANTS = "branch constants"
# (results, slots) A known branch that fills the residual slots of all branches.
BRANCH_WITH_SLOTS = "branch with slots"
# (plan, avals) A linear branch that reads its residuals from the slots.
BRANCH_TAKING_SLOTS = "branch taking slots"
# (inputs) A transposed branch with zeros for the cotangents that only other branches give.
BRANCH_FILLED = "branch filled"
# (length, reverse, constants, carry) One iteration of a scan on whole sequences.
SCAN_STEP = "scan step"
# (masked, linear inputs, nonzero cotangents, summed constants, avals) One iteration of a transposed scan.
SCAN_TRANSPOSE = "scan transpose"
# (avals) A while loop's condition that takes the tangents of the carry too.
WHILE_TANGENT_CONDITION = "while tangent condition"
# (bound, condition, constants, name) Parts of a bounded while loop as scans.
WHILE_CHECKPOINTED = "while checkpointed"
# (mapped predicate) The condition of a batched while loop: whether any element continues.
WHILE_ANY = "while any"
# (condition, constants, bound) The body of a batched while loop: finished elements keep their carry.
WHILE_LOCKSTEP = "while lockstep"
# (constants, bound) A while loop's body or condition with a counter in the carry.
WHILE_COUNTED = "while counted"

# --- shard_map ------------------------------------------------------------------------------------------

# (input axes, output axes) With inputs and outputs that vary along mesh axes.
VARYING = "varying"
# (axes) With outputs that vary along the axes of their specs.
VARYING_OUTPUTS = "varying outputs"
# (mapped inputs, axes) With inputs that vary along their batch axes.
VARYING_INPUTS = "varying inputs"
# (region) With all inexact intermediate values as outputs.
INTERMEDIATE_VALUES = "intermediate values"
# (avals, parameters) The jaxpr of one application of shard_map.
SHARD_MAP_CALL = "shard_map call"
# (outputs, axes) With a leading dimension of size 1 on residuals.
RESIDUALS_EXPANDED = "residuals expanded"
# (inputs, avals) Without that dimension on inputs.
RESIDUALS_SQUEEZED = "residuals squeezed"
# (region, linear inputs, nonzero cotangents, specs) Transpose of a body on each device.
SHARD_MAP_TRANSPOSE = "shard_map transpose"

# --- passes and executables -----------------------------------------------------------------------------

# With barriers that prevent XLA from fusing values with many consumers.
FUSION_FENCES = "fusion fences"
# With random draws of a short last dimension rewritten to draw along a long one.
FLAT_DRAWS = "flat draws"
# With dot_general on operands of low rank.
CANONICAL_DOTS = "canonical dots"
# With the sines that reductions absorb marked as XLA's own.
REDUCED_SINES = "reduced sines"
# With the maxima marked that shift what is exponentiated, and its cap in the quickest form.
SHIFTS = "shifting extrema"
# (elements from which on NumPy sorts) With argsorts by packed keys, and searches in place of sorts of which few positions are read.
REWRITTEN_SORTS = "rewritten sorts"
# The elements that it sorts, and its other work.
SORTING_WORK = "sorting work"
# The elements that it reduces along columns and rows, and its other work.
REDUCING_WORK = "reducing work"
# With unrolled Python loops as scans.
REROLLED = "rerolled"
# (device or placement, settings) The executable.
COMPILED = "compiled"
# (error categories) checkify's form; on each device of a shard_map; and without effect equations.
CHECKED = "checked"
CHECKED_SHARD_MAP = "checked shard_map"
CHECKED_SILENT = "checked silent"
