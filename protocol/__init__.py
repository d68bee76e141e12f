"""The messages, filters and frames between programs, and their meaning. Pure: nothing here waits, reads a clock or
opens a socket."""
