import sagax

print(sagax.devices())
sagax.distributed.initialize("10.0.0.1:1234", num_processes=2, process_id=0)  #~ SX0220 distributed.initialize() must be called before any
