"""Engines: each turns a source into pieces of a ranking, in order. None of them knows a measure."""
