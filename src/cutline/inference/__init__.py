"""How sure are we: intervals, tests, resampling."""
