"""Places in what a stream carries from batch to batch about the block that is still open, and how it draws."""

OPEN, TOP, SCORES, POS, NEG, GROUPS, FIRST = range(7)
DRAWS_PER_NUMBER = 4  # Poisson weights from one random number of 64 bits
