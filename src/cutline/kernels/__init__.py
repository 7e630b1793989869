"""The passes over rows and rankings, compiled ahead of time (``compiled.pyx`` and the headers it includes).

``layout`` tells what is gathered and what the passes are given. The plain meaning of each pass, in NumPy, stands in the
tests, which compare the two bit by bit.
"""
