"""Only what pyproject.toml cannot say: the cffi module to build, how its sources are compiled, and what a checkout has
beyond a wheel."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic
from zlib import crc32

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel

REPORT_S = 3.0


class BuildExtension(build_ext):
    """Build the C: compile what changed in threads, and link.

    The library is linked and copied aside, then renamed: a build that is interrupted leaves none that looks whole."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_temp = "build/objects"  # of an editable install, too, which would have a temporary folder

    def build_extensions(self) -> None:
        link = self.compiler.link_shared_object

        def link_aside(objects: list[str], output: str, *rest: object, **options: object) -> None:
            link(objects, f"{output}.new", *rest, **options)
            Path(f"{output}.new").replace(output)

        self.compiler.link_shared_object = link_aside
        self.compiler.compile = partial(_compile_changed, self.compiler.compile)
        super().build_extensions()

    def copy_file(self, source: str, target: str, *rest: object, **options: object) -> tuple[str, bool]:
        super().copy_file(source, f"{target}.new", *rest, **options)
        Path(f"{target}.new").replace(target)
        return target, True


def _compile_changed(
    compile_all: Callable[..., list[str]], sources: list[str], output_dir: str, **options: object
) -> list[str]:
    """Compile the sources that changed since they were compiled with these options, on every core; return all objects.

    The objects of other options and of other compilers stay in other folders."""
    options.pop("depends")
    command = repr((compile_all.__self__.compiler_so, options))
    folder = Path(output_dir) / f"{crc32(command.encode()):08x}"

    def compile_one(source: str) -> str:
        made = Path(compile_all.__self__.object_filenames([source], output_dir=str(folder))[0])
        needs, written = made.with_suffix(".needs"), made.with_suffix(".d")
        if not (made.exists() and _is_newest(needs)):
            compile_all([source], output_dir=str(folder), **options)
            if written.exists():
                written.replace(needs)
        return str(made)

    reported, objects = monotonic(), []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for made in pool.map(compile_one, sources):
            objects.append(made)
            if monotonic() - reported > REPORT_S:
                reported = monotonic()
                print(f"compiled {len(objects)} of {len(sources)} C files", flush=True)
    return objects


def _is_newest(needs: Path) -> bool:
    """Return whether `needs`, the compiler's list of what an object was made of, is newer than all that it names."""
    if not needs.exists():
        return False
    files = map(Path, needs.read_text().replace("\\\n", " ").split()[1:])
    return all(each.exists() and each.stat().st_mtime_ns < needs.stat().st_mtime_ns for each in files)


class EditableWheel(editable_wheel):
    """An editable install of a checkout. It has the benchmarks and the papers, too, which are no part of a wheel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        for folder in ("bench", "papers"):  # each with all that is in it
            self.distribution.packages.append(f"tamis.{folder}")
            self.distribution.package_dir[f"tamis.{folder}"] = folder


setup(cffi_modules=["native/build.py:ffi"], cmdclass={"build_ext": BuildExtension, "editable_wheel": EditableWheel})
