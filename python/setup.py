"""The native step of the build: the library, by its own Autotools build, and the ctypes view of its headers.

Environment:
    TRISOLVE_PREFIX   where the library is installed; it is used from there, and nothing is compiled
    DESTDIR           what TRISOLVE_PREFIX lies under while a package is being made
    CONFIGURE_FLAGS   goes to configure: --without-cuda, --without-suitesparse, ...
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from generate_abi import Header, generate  # noqa: E402

SOURCE = HERE / "native" if (HERE / "native").is_dir() else HERE.parent
PREFIX = os.environ.get("TRISOLVE_PREFIX")
INCLUDE = Path(os.environ.get("DESTDIR", "") + PREFIX, "include") if PREFIX else SOURCE / "lib"
FLAGS = os.environ.get("CONFIGURE_FLAGS", "").split()
HEADERS = [path for path in (INCLUDE / "trisolve-sparse.h", INCLUDE / "trisolve-suitesparse.h") if path.exists()]
# Wheels for others name CUDA (python/wheels).  Else code is made for the GPUs of this machine, or PTX without one.
ARCH = [] if any("-cuda" in flag for flag in FLAGS) else ["--with-cuda-arch=native"]
# the wheel has UMFPACK and CHOLMOD inside, or depends on them
GPL = not PREFIX and "--without-suitesparse" not in FLAGS


def configure(folder):
    if not (SOURCE / "configure").exists():
        subprocess.run(["autoreconf", "-fi"], cwd=SOURCE, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    # below /usr libtool writes no folder into the libraries; they find one another by $ORIGIN
    subprocess.run([SOURCE / "configure", "-q", "--prefix=/usr", "--libdir=/usr/lib", "--disable-static",
                    "--with-libarchive=link", "--without-fortran", "--without-cxx", *ARCH, *FLAGS],
                   cwd=folder, check=True)


def build_library(folder, target):
    """Build both libraries in a folder, and put them into another one."""
    configure(folder)
    stage = folder / "stage"
    subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "install-exec", "bin_PROGRAMS=", f"DESTDIR={stage}",
                    "RPATH_LIB=-Wl,-rpath,'$$ORIGIN'"], cwd=folder, check=True)
    target.mkdir(parents=True, exist_ok=True)
    for library in sorted((stage / "usr/lib").glob("*.so.[0-9]")):
        shutil.copy(library, target / library.name)
        subprocess.run(["strip", "--strip-unneeded", target / library.name], check=True)


class BuildPackage(build_py):
    def run(self):
        package = Path(self.build_lib, "trisolve")
        shutil.rmtree(package, ignore_errors=True)  # libraries of an earlier build
        super().run()
        module = generate(HEADERS) + f"LIBDIR = {os.path.join(PREFIX, 'lib') if PREFIX else None!r}\n"
        (package / "_abi.py").write_text(module, encoding="utf-8")
        shutil.copy(SOURCE / "COPYING", package)
        if not PREFIX:
            build_library(Path(self.get_finalized_command("build").build_temp, "native").resolve(), package / "lib")


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class BundledSource(sdist):
    """The source distribution has that of the library inside, as `make distdir` collects it."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        native = Path(base_dir, "native").resolve()
        folder = Path(self.get_finalized_command("build").build_temp, "dist").resolve()
        configure(folder)
        subprocess.run(["make", "-s", "distdir", f"distdir={native}"], cwd=folder, check=True)


class NativeDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=Header(HEADERS[0].read_text(encoding="utf-8")).version,
      license="BSD-3-Clause AND GPL-2.0-or-later" if GPL else "BSD-3-Clause",
      distclass=NativeDistribution,
      cmdclass={"build_py": BuildPackage, "bdist_wheel": PlatformWheel, "sdist": BundledSource})
