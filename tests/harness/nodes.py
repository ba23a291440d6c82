# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes on one machine, each with its own network, host name and mounts; joined by a virtual cable. Needs root.

Each node is held by a sleeping process; everything else enters its namespaces. The nodes share all files but the run
directory, so that each finds the other's processes only over the network.
"""
import contextlib
import os
import subprocess

from .job import MpiJob
from .waiting import check

CABLE = "lbcable"


class Node:
    def __init__(self, name, number):
        self.name, self.address, self.holder = name, f"10.77.0.{number}", None

    def start(self, rundir, hosts):
        """hosts: a file to use as /etc/hosts there, since MPI looks up names and no name server is reachable."""
        script = (f"hostname {self.name} && mount --make-rprivate / && mount -t tmpfs -o mode=0700 none {rundir} && "
                  f"mount --bind {hosts} /etc/hosts && "
                  "ip link set lo up && echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--ipc", "sh", "-c", script],
                                       stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        check(self.holder.stdout.readline() == "ready\n", f"node {self.name} could not be made (is this root? is there a file /etc/hosts?)")

    def enter(self):
        """Words to put before a command to run it on this node."""
        return ["nsenter", "-t", str(self.holder.pid), "--net", "--uts", "--mount", "--ipc", "--"]

    def run(self, *command):
        subprocess.run([*self.enter(), *command], check=True, stdin=subprocess.DEVNULL)

    def stop(self):
        if self.holder:
            self.holder.kill()
            self.holder.wait()


class TwoNodes:
    """Context manager. `agent` is what mpirun calls instead of ssh to start its daemon on a node."""

    def __init__(self, rundir, directory):
        self.nodes = [Node("lbnode1", 1), Node("lbnode2", 2)]
        self.rundir = rundir
        self.agent = os.path.join(directory, "agent")
        self.hosts = os.path.join(directory, "hosts")

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        with open(self.hosts, "w") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{node.address} {node.name}\n" for node in self.nodes))
        for node in self.nodes:
            node.start(self.rundir, self.hosts)
        one, two = self.nodes
        subprocess.run(["ip", "link", "add", CABLE, "netns", str(one.holder.pid), "type", "veth",
                        "peer", "name", CABLE, "netns", str(two.holder.pid)], check=True)
        for node in self.nodes:
            node.run("ip", "address", "add", f"{node.address}/24", "dev", CABLE)
            node.run("ip", "link", "set", CABLE, "up")
        with open(self.agent, "w") as file:
            file.write('#!/bin/sh\nnode=$1\nshift\ncase "$node" in\n')
            for node in self.nodes:
                file.write(f'  {node.name}) exec {" ".join(node.enter())} sh -c "$*" ;;\n')
            file.write('esac\necho "no such node: $node" >&2\nexit 1\n')
        os.chmod(self.agent, 0o700)

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()

    def mpirun_options(self, ranks_per_node):
        hosts = ",".join(f"{node.name}:{ranks_per_node}" for node in self.nodes)
        return ["--host", hosts, "--mca", "plm_rsh_agent", self.agent, "--mca", "oob_tcp_if_include", CABLE]


@contextlib.contextmanager
def job_on_two_nodes(context, program, ranks_per_node, wrapper=()):
    """(job, nodes): the job runs on both and is ready, and is commanded from the first. wrapper: begins each rank's command."""
    job = MpiJob(context.build, context.logs, program, 2 * ranks_per_node)
    job.wrapper = wrapper
    with TwoNodes(job.rundir, job.shared) as made:
        job.enter = made.nodes[0].enter()
        job.mca += made.mpirun_options(ranks_per_node)
        with job:
            job.wait_ready()
            yield job, made.nodes
