"""Functions of each row, and products."""
