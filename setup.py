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
    """Build the C: compile what changed in threads, and link if something did.

    The library is linked and copied aside, then renamed: a build that is interrupted leaves none that looks whole. It
    stays beside the objects, for an installation that follows a build."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_temp = "build/objects"  # of an editable install, too, which would have a temporary folder

    def build_extensions(self) -> None:
        link = self.compiler.link_shared_object

        def link_changed(objects: list[str], output: str, *rest: object, **options: object) -> None:
            command = repr((objects, rest, options))
            linked = Path(self.build_temp) / f"{crc32(command.encode()):08x}" / Path(output).name
            if not (linked.exists() and all(_is_older(Path(each), linked) for each in objects)):
                link(objects, f"{linked}.new", *rest, **options)
                Path(f"{linked}.new").replace(linked)
            self.copy_file(str(linked), output)

        self.compiler.link_shared_object = link_changed
        self.compiler.compile = partial(_compile_changed, self.compiler.compile)
        super().build_extensions()

    def copy_file(self, source: str, target: str, *rest: object, **options: object) -> tuple[str, bool]:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
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
    return all(_is_older(Path(each), needs) for each in needs.read_text().replace("\\\n", " ").split()[1:])


def _is_older(file: Path, other: Path) -> bool:
    """Return whether `file` is there, and older than `other`."""
    return file.exists() and file.stat().st_mtime_ns < other.stat().st_mtime_ns


class EditableWheel(editable_wheel):
    """An editable install of a checkout. It has the benchmarks and the papers, too, which are no part of a wheel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        for folder in ("bench", "papers"):  # each with all that is in it
            self.distribution.packages.append(f"tamis.{folder}")
            self.distribution.package_dir[f"tamis.{folder}"] = folder


setup(cffi_modules=["native/build.py:ffi"], cmdclass={"build_ext": BuildExtension, "editable_wheel": EditableWheel})
