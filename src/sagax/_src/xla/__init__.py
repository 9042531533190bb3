"""Call XLA through jaxlib: the only package that imports jaxlib.

It knows nothing of the rest of sagax and starts nothing when it is imported: no client, no thread,
no MLIR context. Differences between the supported versions of jaxlib are settled here. All that can
crash the process or give garbage (a wrong count, shape or type, a missing callback) is checked
first; the one exception is the hot path, `Executable.run`.

Names of every session are attributes of the package: `xla.put`. Its other modules are imported on
first use, and named where they are used: `xla.compiler.compile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names
from sagax._src.xla.buffers import (
    block,
    block_all,
    copy_to_device,
    delete,
    device_of,
    devices_of,
    is_deleted,
    is_ready,
    make_error_buffer,
    put,
    put_of_type,
    put_sharded,
    set_wait,
    shards,
    start_copy_to_host,
    to_numpy,
    was_computed,
    with_device_order,
    with_shards,
)
from sagax._src.xla.engine import (
    Buffer,
    Client,
    DeletedBufferError,
    Device,
    EngineError,
    barriers_last_until_fusion,
    engine_version,
    engine_version_text,
    loses_nans,
    reduces_sines,
    sums_products_of_bytes,
)
from sagax._src.xla.failures import original_error, set_explain, set_explain_device
from sagax._src.xla.jax_guard import no_jax
from sagax._src.xla.pytrees import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
    new_tree_registry,
    restore_recursion_depth,
    treedef_tuple,
)
from sagax._src.xla.shardings import shard_indices, sharding_tiles
from sagax._src.xla.tracebacks import (
    Frame,
    TracebackScope,
    get_traceback,
    python_traceback,
    traceback_frames,
)

if TYPE_CHECKING:
    from sagax._src.xla._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
