"""How the control plane grows: networks of real cores in virtual time, and one core alone; see `__main__.py`."""
