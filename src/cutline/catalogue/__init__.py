"""The measures, in rooms by what they read. Importing a room declares its measures."""

from . import threshold, probability, ranks, quota, value, matrix_measures  # noqa: F401, I001  (the order of the catalogue)
