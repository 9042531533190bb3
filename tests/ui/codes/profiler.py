from sagax import profiler

profiler.stop_trace()  #~ SX0206 profiler.stop_trace: No profile started
