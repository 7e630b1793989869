"""The commands of the command line, one file each; what they share is in ``reading``, ``options`` and ``output``."""
