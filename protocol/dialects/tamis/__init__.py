"""The language of Tamis itself, with the conditions that need a program."""
