"""Tables on the way in: arrays, frames, sparse matrices, device memory, files."""
