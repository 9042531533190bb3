# An error of sagax is caught by the builtin that people expect, and pickles.
import pickle

from _library import schedule

try:
    schedule(0.1, 2)
except TypeError as error:
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
