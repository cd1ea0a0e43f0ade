"""The functions over all pairs of rows."""
