"""Commands for topology files: examples, checks, and forms for other systems."""
