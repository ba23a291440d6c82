# SPDX-License-Identifier: BSD-3-Clause
"""MPICH from Debian's source package, authenticated by apt, configured for libfabric."""
import glob
import os
import shutil
import tempfile

from tests.harness.commands import ROOT, run_logged
from tests.harness.waiting import Failed

CONFIGURE = ("--with-device=ch4:ofi", "--with-libfabric=/usr", "--with-hwloc=/usr", "--with-pm=hydra", "--without-yaksa",
             "--disable-fortran", "--disable-cxx", "--disable-romio", "--disable-static", "--enable-shared",
             "--with-wrapper-dl-type=none", "--disable-doc")


class Mpich:
    """Where it is built, and the parts that are used."""

    def __init__(self, directory):
        self.directory = directory
        self.objects = os.path.join(self.directory, "objects")
        self.prefix = os.path.join(self.directory, "prefix")
        self.mpiexec = os.path.join(self.prefix, "bin", "mpiexec")
        self.suites = os.path.join(self.objects, "test", "mpi")
        self.await_switch = os.path.join(self.directory, "await_switch.so")
        self.done = os.path.join(self.directory, "done")  # exists once all is built; holds the configuration

    def build(self, say):
        self.say = say
        if not self.is_built():
            self._build()
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "await_switch.c")
        made = self.await_switch + ".new"
        self._run("compiling what waits for the first switch", [os.path.join(self.prefix, "bin", "mpicc"), "-shared", "-fPIC",
                                                                "-O1", "-Wall", "-Werror", "-o", made, source], self.directory)
        os.replace(made, self.await_switch)  # another run may be using the old one

    def _build(self):
        os.makedirs(self.directory, exist_ok=True)
        self._fetch()
        shutil.rmtree(self.objects, ignore_errors=True)
        os.makedirs(self.objects)
        # BASH_SHELL: its own search may take a shell that is not bash.
        self._run("configuring MPICH (2 minutes)", [os.path.join(self._source(), "configure"), f"--prefix={self.prefix}",
                                                    *CONFIGURE, "BASH_SHELL=/bin/bash"], self.objects)
        self._run("compiling MPICH (20 minutes)", ["make", f"-j{os.cpu_count()}"], self.objects)
        self._run("installing it", ["make", "install"], self.objects)
        self._run("compiling what its tests share", ["make"], os.path.join(self.suites, "util"))
        with open(self.done, "w", encoding="utf-8") as file:
            file.write(" ".join(CONFIGURE))

    def install(self, prefix, say):
        """A complete MPICH in `prefix`, without tests, whose library has the name of Debian's and so takes its place in programs
        that Debian's mpicc has linked."""
        self.say = say
        os.makedirs(self.directory, exist_ok=True)
        self._fetch()
        objects = os.path.join(self.directory, "install-objects")
        shutil.rmtree(objects, ignore_errors=True)
        os.makedirs(objects)
        self._run("configuring MPICH (2 minutes)", [os.path.join(self._source(), "configure"), f"--prefix={prefix}", *CONFIGURE,
                                                    f"--sysconfdir={prefix}/etc", "BASH_SHELL=/bin/bash", "MPILIBNAME=mpich"],
                  objects)
        self._run("compiling MPICH (20 minutes)", ["make", f"-j{os.cpu_count()}"], objects)
        self._run(f"installing it in {prefix}", ["make", "install"], objects)
        shutil.rmtree(objects)

    def is_built(self):
        try:
            with open(self.done, encoding="utf-8") as file:
                return file.read() == " ".join(CONFIGURE)
        except FileNotFoundError:
            return False

    def _source(self):
        found = glob.glob(os.path.join(self.directory, "source", "mpich-*", "configure"))
        return os.path.dirname(found[0]) if found else None

    def _fetch(self):
        """Fetches the upstream archive in Debian's source package: it includes a ready `configure`, which Debian's patches would
        regenerate."""
        if self._source():
            return
        apt = self._apt()
        self._run("reading apt's lists of sources", [*apt, "update"], self.directory)
        self._run("fetching MPICH's source", [*apt, "source", "--download-only", "mpich"], self.directory)
        archives = glob.glob(os.path.join(self.directory, "mpich_*.orig.tar.*"))
        if len(archives) != 1:
            raise Failed(f"apt brought {archives or 'no archive'} into {self.directory}")
        unpacked = tempfile.mkdtemp(dir=self.directory)
        self._run("unpacking it", ["tar", "-C", unpacked, "-xf", archives[0]], self.directory)
        os.rename(unpacked, os.path.join(self.directory, "source"))  # complete, or not at all

    def _apt(self):
        """An apt-get that also fetches the sources of the system's repositories, with lists of its own: the system's configuration
        is not touched."""
        parts, lists, cache = (os.path.join(self.directory, "apt", each) for each in ("parts", "lists", "cache"))
        for place in (parts, os.path.join(lists, "partial"), os.path.join(cache, "archives", "partial")):
            os.makedirs(place, exist_ok=True)
        for path in [*glob.glob("/etc/apt/sources.list.d/*.sources"), *glob.glob("/etc/apt/sources.list.d/*.list"),
                     "/etc/apt/sources.list"]:
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            name = os.path.basename(path).replace("sources.list", "system.list")
            with open(os.path.join(parts, name), "w", encoding="utf-8") as file:
                file.writelines(source_line(line) + "\n" for line in lines)
        return ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}",
                "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={cache}",
                "-o", "APT::Sandbox::User=root"]  # apt's own user may not be able to read the directory

    def _run(self, what, command, directory):
        self.say(what)
        run_logged(command, what, os.path.join(self.directory, "build.log"), cwd=directory)


def source_line(line):
    """A line of apt's configuration, in either format, that asks for sources instead of packages."""
    if line.startswith("Types:"):
        return "Types: deb-src"
    if line.startswith("deb "):
        return "#" if "cdrom:" in line else line.replace("deb ", "deb-src ", 1)
    return line


MPICH = Mpich(os.path.join(ROOT, "build", "mpich"))
