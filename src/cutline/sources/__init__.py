"""Every door in: arrays, frames, files, DuckDB and Spark, read by one rule for labels and one for numbers."""
