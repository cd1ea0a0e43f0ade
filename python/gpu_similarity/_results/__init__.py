"""Results over all pairs, their p, and the files they become."""
