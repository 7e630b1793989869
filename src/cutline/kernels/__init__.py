"""The passes over rows and rankings: compiled, and in plain NumPy.

``layout`` says what is gathered and what the passes are given. ``passes``, ``replicates``, ``rankings``, ``streams``
and ``rng`` are compiled by ``jit`` at first use. The modules whose names begin with ``plain`` do the same in NumPy, for
machines without numba and for samples so small that loading numba would cost more than it saves. ``backend`` chooses.
"""
