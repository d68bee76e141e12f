"""Power cuts of a real block device under the log: each write is recorded; what a cut leaves is mounted and opened."""
