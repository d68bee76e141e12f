"""Only what pyproject.toml cannot say: which cffi module to build, and what a checkout has beyond a wheel."""

from setuptools import setup
from setuptools.command.editable_wheel import editable_wheel


class EditableWheel(editable_wheel):
    """An editable install of a checkout. It has the benchmarks, too, which are no part of a wheel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.distribution.packages.append("tamis.bench")  # with all that is in the folder
        self.distribution.package_dir["tamis.bench"] = "bench"


setup(cffi_modules=["native/build.py:ffi"], cmdclass={"editable_wheel": EditableWheel})
