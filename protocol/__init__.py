"""What travels between programs and what it means. Pure: nothing here waits, reads a clock or opens a socket."""
