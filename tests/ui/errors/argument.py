from _library import schedule

rate = 0.1
for _ in range(3):
    rate = schedule(rate, 0.5)
rate = schedule(rate, decay=None)  # ~ SX0005 argument decay must be a float between 0 and 1
