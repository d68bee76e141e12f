"""The rules of access in files: models, reading, checks and the reference page.

`load_access(path)` returns the `LoadedAccess` of a topology file or of a file of rules, or raises a ConfigError that
lists every mistake with its line and column. Law: this package turns text into `tamis.protocol.access`, which decides;
nothing here decides.
"""
