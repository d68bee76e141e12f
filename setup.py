"""Only what pyproject.toml cannot say: the cffi module to build, what is stripped from a wheel, and what a checkout has
beyond it."""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel


class BuildExtension(build_ext):
    """Build the C. A wheel gets it without what debuggers read, which is five times as large as the code.

    The library is linked and copied aside, then renamed: a build that is interrupted leaves none that looks whole."""

    def build_extensions(self) -> None:
        link = self.compiler.link_shared_object

        def link_aside(objects: list[str], output: str, *rest: object, **options: object) -> None:
            link(objects, f"{output}.new", *rest, **options)
            Path(f"{output}.new").replace(output)

        self.compiler.link_shared_object = link_aside
        super().build_extensions()

    def copy_file(self, source: str, target: str, *rest: object, **options: object) -> tuple[str, bool]:
        super().copy_file(source, f"{target}.new", *rest, **options)
        Path(f"{target}.new").replace(target)
        return target, True

    def build_extension(self, ext: Extension) -> None:
        if not self.editable_mode and not self.inplace and not os.environ.get("TAMIS_CFLAGS"):
            ext.extra_link_args = [*ext.extra_link_args, "-Wl,--strip-debug"]
        super().build_extension(ext)


class EditableWheel(editable_wheel):
    """An editable install of a checkout. It has the benchmarks and the papers, too, which are no part of a wheel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        for folder in ("bench", "papers"):  # each with all that is in it
            self.distribution.packages.append(f"tamis.{folder}")
            self.distribution.package_dir[f"tamis.{folder}"] = folder


setup(cffi_modules=["native/build.py:ffi"], cmdclass={"build_ext": BuildExtension, "editable_wheel": EditableWheel})
