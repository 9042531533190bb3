"""Write arrays to disk and read them with any sharding, by TensorStore: `pip install tensorstore`."""
