#!/usr/bin/env python3
"""What a wheel asks of its machine, by auditwheel's answer; anything unexpected is an error.

Usage: check_wheel.py WHEEL          a wheel of this machine: auditwheel finds a manylinux tag that is not beyond
                                     this machine's C library; every symbol of glibc that is newer than 2.28
                                     exists in 2.28 under an older version, or is one that headers use only
                                     where it exists: the same sources, linked there, ask for nothing newer
       check_wheel.py WHEEL 2_28     auditwheel finds manylinux_2_28 or older

Runs in an environment that has auditwheel. The libraries of others that the wheel takes from outside
have to be those that THIRD_PARTY_NOTICES names.
"""

import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

from elftools.elf.elffile import ELFFile

PROMISED = (2, 28)
# Libraries that `auditwheel repair` copies into a wheel (zlib stays the system's). A name with a hash in it is a copy.
COPIED = re.compile(r"lib(?:gomp|openblas|openblasp|gfortran|quadmath|z|zstd)(?:-[0-9a-f]{8})?[-.0-9r]*\.so[.0-9]*$")
# What headers call by this name where glibc has it, and otherwise elsewhere: libstdc++'s whether a program has one
# thread, and waiting by a clock that is not set (from 2.32 and 2.30 on); glibc's own fstat (from 2.33 on, __fxstat before).
BY_HEADERS = {"__libc_single_threaded", "pthread_cond_clockwait", "fstat"}


def fail(message):
    raise SystemExit(f"check_wheel.py: {message}")


def version_of(text):
    return tuple(int(part) for part in re.findall(r"\d+", text))


def newer_symbols(library):
    """Symbols that the shared library wants of glibc in a version beyond the promised one."""
    with open(library, "rb") as stream:
        elf = ELFFile(stream)
        needs = elf.get_section_by_name(".gnu.version_r")
        symbols = elf.get_section_by_name(".dynsym")
        versions = elf.get_section_by_name(".gnu.version")
        names = {}
        for _, auxiliaries in needs.iter_versions() if needs else []:
            names.update((auxiliary["vna_other"], auxiliary.name) for auxiliary in auxiliaries)
        for index, symbol in enumerate(symbols.iter_symbols()):
            version = names.get(versions.get_symbol(index)["ndx"], "")
            if version.startswith("GLIBC_2") and version_of(version) > PROMISED:
                yield symbol.name, version


def older_versions(library):
    """The symbols that a library of glibc offers in the promised version, or an older one."""
    with open(library, "rb") as stream:
        elf = ELFFile(stream)
        offered = {version["vd_ndx"]: next(auxiliaries).name
                   for version, auxiliaries in elf.get_section_by_name(".gnu.version_d").iter_versions()}
        versions = elf.get_section_by_name(".gnu.version")
        for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
            entry = versions.get_symbol(index)["ndx"]
            name = offered.get(entry & 0x7FFF if isinstance(entry, int) else -1, "")
            if name.startswith("GLIBC_2") and version_of(name) <= PROMISED:
                yield symbol.name


def glibc_folder():
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("/libc.so.6"):
            return pathlib.Path(line.split()[-1]).parent
    fail("this Python does not run on glibc")


def answer_of_auditwheel(wheel):
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], check=True,
                           capture_output=True, text=True).stdout
    print(shown.strip())
    # Of a wheel that needs libgomp or OpenBLAS from outside: the tag once `auditwheel repair` has copied them.
    found = (re.search(r'constrains\s+the\s+platform\s+tag\s+to\s+"manylinux_2_(\d+)_\w+"', shown)
             or re.search(r'platform\s+tag:\s+"manylinux_2_(\d+)_\w+"', shown))
    if found is None:
        fail(f"auditwheel finds no manylinux tag for {wheel.name}")
    return 2, int(found[1])


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    wheel = pathlib.Path(sys.argv[1])
    here = version_of(platform.libc_ver()[1])
    limit = version_of(sys.argv[2]) if len(sys.argv) == 3 else here
    tag = answer_of_auditwheel(wheel)
    if tag > limit:
        fail(f"{wheel.name} asks for glibc {tag[0]}.{tag[1]}, expected {limit[0]}.{limit[1]} or older")

    glibc = glibc_folder()
    # What 2.28 has in libraries of their own is a part of libc.so.6 from 2.34 on.
    old = {name for library in glibc.glob("lib[cm].so.6") for name in older_versions(library)}
    newer = {}
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        libraries = [path for path in pathlib.Path(folder).rglob("*.so*") if path.is_file()]
        if not any(path.name.startswith("_core") for path in libraries):
            fail(f"{wheel.name} holds no module _core")
        for library in libraries:
            with open(library, "rb") as stream:
                needed = [entry.needed for entry in ELFFile(stream).get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
            for name in needed:
                if not (COPIED.match(name) or re.match(r"lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so|ld-linux", name)):
                    fail(f"{library.name} needs {name}, which no notice names")
            if not COPIED.match(library.name):
                newer.update(newer_symbols(library))
    print(f"newer than {PROMISED[0]}.{PROMISED[1]}: "
          + (", ".join(f"{name} ({version})" for name, version in sorted(newer.items())) or "nothing"))
    without = sorted(set(newer) - old - BY_HEADERS)
    if without:
        fail(f"no older version in glibc of: {', '.join(without)}")
    print(f"-- auditwheel: manylinux_{tag[0]}_{tag[1]}; {limit[0]}_{limit[1]} or older was expected; "
          f"{len(newer)} newer symbols, none that {PROMISED[0]}.{PROMISED[1]} cannot do without")
    return 0


if __name__ == "__main__":
    sys.exit(main())
