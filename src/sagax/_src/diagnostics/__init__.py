"""Errors as data: facts are raised, explained when someone looks, and rendered in one layout."""
