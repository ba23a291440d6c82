# SPDX-License-Identifier: BSD-3-Clause
"""The contenders: each is an MPI job with two ranks of bench_mpi, which measure on order."""
import os
import select

from tests.harness.job import OVER_LIVEBTL, OVER_OFI, OVER_OMPI, MpiJob
from tests.harness.launcher import launcher
from tests.harness.waiting import Failed

RDMA = ["--mca", "osc", "rdma"]
RXM = {"LIVEBTL_TRANSPORTS": "self,tcp,ofi:tcp;ofi_rxm", "LIVEBTL_TCP_IF": "lo", "FI_TCP_IFACE": "lo"}
RDMA_OVER_OFI = ["--mca", "btl", "self,ofi", *RDMA]
# How each is started: options of mpirun, and environment. Over TCP, all use only the loopback.
CONTENDERS = {
    "livebtl-sm": (OVER_LIVEBTL, {}),
    "livebtl-sm-rings": (OVER_LIVEBTL, {"LIVEBTL_SM_SINGLE_COPY": "none"}),
    "livebtl-ompi-sm": (OVER_OMPI, {}),
    "vader": (["--mca", "pml", "ob1", "--mca", "btl", "self,vader"], {}),
    "ucx-sm": (["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"],
               {"UCX_TLS": "self,sm"}),
    "livebtl-tcp": (OVER_LIVEBTL, {"LIVEBTL_TRANSPORTS": "self,tcp", "LIVEBTL_TCP_IF": "lo"}),
    "livebtl-ompi-tcp": (OVER_OMPI, {"LIVEBTL_TRANSPORTS": "self,tcp", "LIVEBTL_TCP_IF": "lo"}),
    "ob1-tcp": (["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"], {}),
    "ofi-rxm-tcp": ([*OVER_OFI, "tcp;ofi_rxm"], {"FI_TCP_IFACE": "lo"}),
    "livebtl-ofi-rxm": (OVER_LIVEBTL, RXM),
    # One-sided: osc/rdma over each, except for Open MPI's own TCP; messages go as above.
    "livebtl-sm-rdma": ([*OVER_LIVEBTL, *RDMA_OVER_OFI], {}),
    "livebtl-sm-rings-rdma": ([*OVER_LIVEBTL, *RDMA_OVER_OFI], {"LIVEBTL_SM_SINGLE_COPY": "none"}),
    "vader-rdma": (["--mca", "pml", "ob1", "--mca", "btl", "self,vader", *RDMA], {}),
    "livebtl-tcp-rdma": ([*OVER_LIVEBTL, *RDMA_OVER_OFI], {"LIVEBTL_TRANSPORTS": "self,tcp", "LIVEBTL_TCP_IF": "lo"}),
    "livebtl-ofi-rxm-rdma": ([*OVER_LIVEBTL, *RDMA_OVER_OFI], RXM),
    # Open MPI 4.1 has no osc/rdma over its own TCP, which has no atomics.
    "tcp-pt2pt": (["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo",
                   "--mca", "osc", "pt2pt"], {}),
}


class PerfJob(MpiJob):
    """bench_mpi under mpirun. options: of mpirun; program: arguments of bench_mpi; bound: each rank has its own
    processor (otherwise two that spin may share one, and the scheduler is measured)."""

    def __init__(self, build, logs, options, environment, ranks, program, wrapper=(), bound=False):
        super().__init__(build, logs, "bench_mpi", ranks, environment=environment)
        self.binding = (["--use-hwthread-cpus", "--map-by", "hwthread", "--bind-to", "hwthread"] if bound
                        else ["--oversubscribe", "--bind-to", "none"])
        self.options, self.words, self.wrapper, self.extra = options, program, list(wrapper), environment

    def command(self):
        output = os.path.join(self.logs, "out")
        command = ["mpirun", *self.binding, "-n", str(self.ranks), *launcher().options(output)]
        if "osc" not in self.options:
            command += ["--mca", "osc", "^ucx"]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
        for name in ("LIVEBTL_RUNDIR", "FI_PROVIDER_PATH", *self.extra):
            command += ["-x", name]
        # With more ranks than processors, let Open MPI yield the processor after each poll.
        yields = "1" if self.ranks > (os.cpu_count() or 1) else "0"
        command += ["--mca", "mpi_yield_when_idle", yields, *self.build.components, *self.options]
        return command + launcher().captured(output, self._program())

    def _program(self):
        return [*self.wrapper, os.path.join(self.build.directory, "bin", "bench_mpi"), *self.words]


class Contender:
    """A job that waits for orders. Use as a context manager."""

    def __init__(self, build, logs, name, threads=False):
        self.name = name
        options, environment = CONTENDERS[name]
        self.job = PerfJob(build, os.path.join(logs, name), options, environment, 2, [], bound=(os.cpu_count() or 1) >= 2)
        directory = self.job.shared
        self.job.words = [*(["--threads"] if threads else []), "orders", directory]
        self.paths = [os.path.join(directory, f"order.{rank}") for rank in range(2)]
        self.answer_path = os.path.join(directory, "answer")
        self.orders, self.answers, self.unread = [], -1, ""

    def __enter__(self):
        for path in (*self.paths, self.answer_path):
            os.mkfifo(path)
        self.job.__enter__()
        try:
            # Both ends, so that opening does not block; a dead rank shows as the end of mpirun.
            self.orders = [os.open(path, os.O_RDWR) for path in self.paths]
            self.answers = os.open(self.answer_path, os.O_RDWR)
        except OSError:
            self.__exit__(None)
            raise
        return self

    def __exit__(self, *failure):
        for number in (*self.orders, self.answers):
            if number >= 0:
                os.close(number)
        self.job.__exit__(*(failure or (None,)))

    def measure(self, kind, size, rounds, seconds=60):
        for pipe in self.orders:
            os.write(pipe, f"{kind} {size} {rounds}\n".encode())
        while "\n" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], 1)
            if ready:
                self.unread += os.read(self.answers, 4096).decode()
            elif not self.job.running():
                raise Failed(f"{self.name}: mpirun ended: {self.job.log_tail()}")
            else:
                seconds -= 1
            if seconds <= 0:
                raise Failed(f"{self.name}: no answer to: {kind} {size} {rounds}")
        line, _, self.unread = self.unread.partition("\n")
        return float(line)

    def quit(self):
        for pipe in self.orders:
            os.write(pipe, b"quit\n")
