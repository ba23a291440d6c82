# SPDX-License-Identifier: BSD-3-Clause
"""CRIU's hook, called as podman checkpoints and restores a container in which a job runs, launcher and all."""
import platform
import shlex

import pytest

from tests.harness.control import DONE, Answer
from tests.harness.launcher import launcher
from tests.harness.scenario import scenario
from tests.harness.waiting import check, wait_until

from .criu import DumpedJob
from .criu_hook import install, wait_device
from .job import DIRECTORY, GuestsJob

NAME, ROOT, CRIU_SETTINGS = "job", "/run/root", "/etc/criu/default.conf"
RUN_DIRECTORY = "run/livebtl/0"  # in the container
STORAGE = "/var/lib/containers/storage"
PRODUCTS = "/opt/livebtl"
# What Debian's podman finds in files that its package recommends, or asks systemd for.
SETTINGS = {
    "/etc/containers/policy.json": '{"default":[{"type":"insecureAcceptAnything"}]}',
    "/etc/containers/storage.conf": f'[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "{STORAGE}"',
    "/etc/containers/containers.conf": '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\nruntime = "crun"\n'
                                       '[containers]\nlog_driver = "k8s-file"',
}
CALLS_SCRIPTS = pytest.mark.skipif(platform.freedesktop_os_release().get("VERSION_CODENAME") == "bookworm",
                                   reason="CRIU 3.17 calls no script when a container's runtime calls it")


class ContainerJob(DumpedJob):
    """Its files are the guest's own, except for /run and what else is mounted there; the container has the guest's
    network and devices."""

    def __enter__(self):
        for path, text in SETTINGS.items():
            self.head.output(f"mkdir -p $(dirname {path}) && printf '%s\\n' {shlex.quote(text)} >{path}")
        self.head.output(f"mount -t cgroup2 cgroup2 /sys/fs/cgroup; mkdir -p {ROOT} {DIRECTORY} && mount --bind / {ROOT}")
        self.head.output(shlex.join(self.command()), 120)
        return self

    def command(self):
        words = ["podman", "run", "--detach", "--name", NAME, "--network", "host", "--device", "/dev/infiniband", "--ulimit", "memlock=-1:-1"]
        for path in (PRODUCTS + ":" + PRODUCTS + ":ro", DIRECTORY + ":" + DIRECTORY):
            words += ["--volume", path]
        return [*words, "--env", "PATH=/usr/sbin:/usr/bin", "--env", "HOME=/root", "--rootfs", ROOT, *GuestsJob.command(self)]

    def podman(self, *words, seconds=120):
        return self.head.output(shlex.join(["podman", *words]), seconds).strip()

    def inspect(self, what):
        return self.podman("inspect", "--format", "{{" + what + "}}", NAME)

    def ended(self):
        if self.code is None and self.inspect(".State.Status") == "exited":
            self.code = int(self.inspect(".State.ExitCode"))
        return self.code is not None

    def btlctl(self, guest, *arguments, seconds=120):
        """Runs the guest's btlctl on the run directory in the container."""
        directory = f"/proc/{self.inspect('.State.Pid')}/root/{RUN_DIRECTORY}"
        words = ["env", "LIVEBTL_RUNDIR=" + directory, "btlctl", "--json", "--timeout", str(seconds), *arguments]
        return Answer(arguments, *guest.look_in(shlex.join(words), 2 * seconds))

    def set_criu(self, *lines):
        self.head.output(f"mkdir -p $(dirname {CRIU_SETTINGS}) && printf '%s\\n' {shlex.join(lines)} >{CRIU_SETTINGS}")

    def call(self, action, *words):
        """(exit code, output, the errors in CRIU's log) of podman container ACTION."""
        command = shlex.join(["podman", "container", action, "--tcp-established", "--file-locks", *words, NAME])
        code, output, errors = self.head.look_in(command, 300)
        return code, output + errors + self.head.output(f"grep -h Error {STORAGE}/*/*/userdata/*.log; true")

    def checkpoint_or_restore(self, action, *words):
        code, said = self.call(action, *words)
        check(code == 0, f"podman container {action}, code {code}: {said}")

    def wait_returned(self):
        """Waits, because the way back goes on after podman's end."""
        def over_sm():
            members = self.btlctl(self.head, "list").expect(DONE).json["members"]
            peers = [each["peers"] for member in members for each in member["transports"] if each["name"] == "sm"]
            return peers == [1] * self.ranks
        wait_until("the ranks to send over sm again", over_sm, 120 * self.lab.pace, interval=1)


@scenario("criu-podman", CALLS_SCRIPTS)
def podman_calls_the_hook(context):
    """Two ranks of stock Open MPI with an RDMA device open, in a container with their launcher: podman alone cannot
    checkpoint it; with the hook it does, and they go on with the device; then checkpointed, ended and restored, and so
    on. Every message is checked."""
    rounds = 2 if context.short else 20
    with context.lab(1) as lab, ContainerJob(lab, context.logs) as job:
        job.wait_ready()
        job.check_device_open(True)
        job.set_criu("network-lock nftables")
        code, said = job.call("checkpoint", "--leave-running")
        check(code != 0 and "handle_device_vma" in said, f"without the hook, code {code}: {said}")
        job.wait_progress()
        job.set_criu("network-lock nftables", "action-script " + install(job.head))
        job.head.output("echo LIVEBTL_HOOK_CONTAINERS=yes >>/etc/livebtl/hooks.conf")
        job.checkpoint_or_restore("checkpoint", "--leave-running")
        wait_device(job, True)
        job.wait_progress()
        for _ in range(rounds):
            job.checkpoint_or_restore("checkpoint")
            check(not job.processes(), f"after the checkpoint there are still {job.processes()}")
            job.checkpoint_or_restore("restore")
            job.wait_returned()
            wait_device(job, True)
            job.wait_progress()
        totals = job.finish()
        said = " ".join([job.podman("--version"), *job.versions()])
    return (f"{said}, {launcher().PROCESSES[0]}: checkpointed while it went on, then ended and restored {rounds} times, "
            f"{totals['received']} messages, lost 0, repeated 0, out of order 0")
