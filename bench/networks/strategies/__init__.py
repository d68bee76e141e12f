"""What each strategy costs: networks of real cores in virtual time, and of real switches by hand; see `__main__.py`."""
