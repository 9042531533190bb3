"""Write arrays to disk and read them with any sharding, by TensorStore: `pip install tensorstore`.

`pytree_serialization.save` and `load` are for trees of arrays. `serialization` has the pieces that checkpoint libraries
use, and `tensorstore_impl` what talks to TensorStore.
"""
