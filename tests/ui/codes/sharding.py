from sagax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((4, 2), ("x", "y"))
NamedSharding(mesh, P("rows"))  #~ SX0210 Resource axis: rows of P('rows',) is
