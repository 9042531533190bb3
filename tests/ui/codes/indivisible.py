from sagax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((4, 2), ("x", "y"))
NamedSharding(mesh, P("x")).shard_shape((6, 8))  #~ SX0213 One of the dimensions is not
