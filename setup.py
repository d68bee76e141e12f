"""Only what pyproject.toml cannot say: which cffi module to build."""

from setuptools import setup

setup(cffi_modules=["native/build.py:ffi"])
