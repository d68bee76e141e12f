"""What keeping messages costs."""
