"""Name what kernels for the SparseCores of TPUs use: each name raises an error that says what it needs."""

from __future__ import annotations

import sagax.experimental.pallas._needs as _needs

__getattr__ = _needs.others(
    __name__,
    {
        _needs.SPARSE_CORE: """
            Indices PackFormat ScalarSubcoreMesh SparseCorePushStreamWarning VectorSubcoreMesh addupdate
            addupdate_compressed addupdate_scatter all_reduce_ffs all_reduce_population_count bitcast cummax cumsum
            fetch_and_add get_sparse_core_info load_expanded load_gather pack parallel_loop scan_count
            slice_subcore_vmem_from_shared sort_key_val store_compressed store_scatter subcore_barrier unpack
        """
    },
)
