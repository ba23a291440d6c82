# SPDX-License-Identifier: BSD-3-Clause
"""An MPI job under MPICH's own mpiexec (Hydra), of an MPICH with libfabric: one that `scripts/mpich --install DIR` has made.
Its programs are those of the other jobs, compiled for it."""
import os

from .commands import ROOT, run_logged
from .job import MpiJob

SOURCES = os.path.join(ROOT, "tests", "e2e", "programs")
SHARED = ("proof.cc", "message.cc")  # by all programs


class HydraJob(MpiJob):
    """prefix: where that MPICH is. Its processes are given no name and no secret by Hydra: livebtl-run does that."""

    def __init__(self, context, program, ranks, prefix):
        super().__init__(context.build, context.logs, program, ranks)
        self.prefix = prefix
        self.start = []  # words that tell Hydra where to start processes, and how
        self.compiled = os.path.join(self.shared, program)

    def compile(self):
        sources = [os.path.join(SOURCES, name) for name in (self.program + ".cc", *SHARED)]
        run_logged([os.path.join(self.prefix, "bin", "mpicc"), "-cc=g++", "-std=c++20", "-O2", "-I", ROOT, *sources,
                    "-pthread", "-o", self.compiled], f"compiling {self.program} for MPICH", os.path.join(self.logs, "compile.log"))

    def start_on(self, made, ranks_per_node):
        """made: a TwoNodes; the agent that it has is Hydra's ssh."""
        self.enter = made.nodes[0].enter()
        self.start = ["-launcher", "rsh", "-launcher-exec", made.agent,
                      "-hosts", ",".join(f"{node.name}:{ranks_per_node}" for node in made.nodes)]

    def command(self):
        files = os.path.join(self.logs, "out", "1", "rank.%r")
        for rank in range(self.ranks):
            os.makedirs(files.replace("%r", str(rank)), exist_ok=True)
        return [*self.enter, os.path.join(self.build.directory, "bin", "livebtl-run"),
                os.path.join(self.prefix, "bin", "mpiexec"), *self.start, "-n", str(self.ranks),
                "-outfile-pattern", f"{files}/stdout", "-errfile-pattern", f"{files}/stderr",
                self.compiled, "--stop", self.stop_file, "--ready", self.ready_file, *self.arguments]
