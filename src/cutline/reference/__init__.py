"""What the parameters and results of the public functions mean: each text once, for ``help()`` and the site."""
