# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts with libvirt on one machine, each with its own network, processes and directories of libvirt, joined by two cables;
and guests of the lab's image that are domains there. Needs root. A host ends with its first process, and all in it with that."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.harness.waiting import check, wait_until

from . import hardware, image, lab, processes, products
from .guest import Guest
from .hardware import BLOCKER, RDMA
from .monitor import Agent, Refused
from .places import HERE, RUN, locked

BRIDGES, MTU = ("br0", "br1"), "9000"  # of the guests' segments
# Plain frames, as on the lab's own switch.
NO_OFFLOAD = ("<driver><host csum='off' gso='off' tso4='off' tso6='off' ecn='off' ufo='off'/>"
              "<guest csum='off' tso4='off' tso6='off' ecn='off' ufo='off'/></driver>")
TOOLS = ("libvirtd", "virsh")
CARD, BLOCKING = "ua-" + RDMA, "ua-" + BLOCKER  # libvirt keeps such aliases as they are given
FIRST_BOOT_SECONDS = 120


def run(*words, seconds=60):
    """Its output; it must succeed."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(words)[:200]}: code {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


class Host:
    def __init__(self, number):
        self.number, self.name, self.directory = number, f"host{number}", os.path.join(RUN, f"host{number}")
        self.first = None

    @property
    def socket(self):
        return os.path.join(self.directory, "run/libvirt/libvirt-sock")

    @property
    def uri(self):
        return f"qemu+unix:///system?socket={self.socket}"

    def start(self):
        os.makedirs(self.directory)
        words = ["unshare", "--net", "--uts", "--mount", "--pid", "--ipc", "--fork", "--kill-child", sys.executable,
                 os.path.join(HERE, "libvirt_host.py"), self.directory, self.name, str(self.number)]
        self.first = processes.start(words, self.name + ".log", with_parent=True)

    def inside(self, *words):
        """In its namespaces."""
        return run("nsenter", "-t", str(self.inner()), "--net", "--uts", "--mount", "--pid", "--ipc", "--", *words)

    def inner(self):
        """The first process of its namespaces, which is the child of unshare."""
        with open(f"/proc/{self.first.pid}/task/{self.first.pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        check(children, f"{self.name} has ended: {processes.log_end(os.path.join(RUN, self.name + '.log'))}")
        return int(children[0])

    def wait_daemon(self, seconds=60):
        wait_until(f"libvirt's daemon of {self.name}", self._answers, seconds, interval=0.2)

    def _answers(self):
        try:
            self.virsh("list")
            return True
        except (Refused, subprocess.TimeoutExpired):
            return False

    def kill_daemon(self):
        """As a crash does. It comes back at once, and finds its guests."""
        with open(os.path.join(self.directory, "daemon.pid"), encoding="utf-8") as file:
            self.inside("kill", "-KILL", file.read())

    def state_file(self, guest):
        return os.path.join(self.directory, "run/libvirt/qemu", guest.name + ".xml")

    def virsh(self, *words, seconds=60):
        return run("virsh", "-q", "-c", self.uri, *words, seconds=seconds)

    def stop(self):
        if self.first:
            processes.stop([self.first], signal.SIGKILL)


class DomainAgent(Agent):
    """The guest agent, which libvirt has to itself."""

    def __init__(self, guest, seconds):
        super().__init__(guest.name, seconds)
        self.guest = guest

    def request(self, name, **arguments):
        message = {"execute": name, "arguments": {key.replace("_", "-"): value for key, value in arguments.items()}}
        words = ["qemu-agent-command", self.guest.name, "--timeout", "30", json.dumps(message)]
        return json.loads(self.guest.host.virsh(*words, seconds=self.seconds))["return"]


@dataclass
class Domain(Guest):
    host: Host = None

    def start_on(self, host, made, disk, accelerator):
        self.host, self.disk = host, disk
        path = os.path.join(RUN, self.name + ".xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(domain_xml(self, made, disk, accelerator))
        host.virsh("create", path)

    def agent(self):
        return DomainAgent(self, 60 * self.pace)

    def console(self):
        return os.path.join(self.host.directory, "var/log/libvirt", self.name + ".console")

    def _check_alive(self):
        check(self.name in self.host.virsh("list", "--name").split(), f"{self.name} is not at {self.host.name}: {self.console_tail()}")

    def xml(self):
        return self.host.virsh("dumpxml", self.name)

    def has(self, alias):
        return f"<alias name='{alias}'/>" in self.xml()

    def attach_blocker(self):
        """What libvirt refuses to migrate, as a passed-through card. In the last root port: by itself libvirt finds no place."""
        path = os.path.join(RUN, self.name + ".blocker.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"<shmem name='livebtl-{os.getpid()}-{self.name}'><model type='ivshmem-plain'/><size unit='M'>1</size>"
                       f"<alias name='{BLOCKING}'/><address type='pci' domain='0' bus='0x0a' slot='0' function='0'/></shmem>")
        self.host.virsh("attach-device", self.name, path, "--live")


def _card_xml(segment, guest, alias=""):
    return (f"<interface type='bridge'><mac address='{hardware.address(segment, guest.number)}'/>"
            f"<source bridge='{BRIDGES[hardware.SEGMENTS.index(segment)]}'/><model type='virtio'/>{NO_OFFLOAD}<rom enabled='no'/>"
            f"{alias and f'<alias name={chr(39)}{alias}{chr(39)}/>'}</interface>")


def _disk_xml(path, name):
    return (f"<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='{path}'/>"
            f"<target dev='{name}' bus='virtio'/><readonly/></disk>")


def domain_xml(guest, made, disk, accelerator):
    kvm = "kvm" in accelerator
    return f"""<domain type='{'kvm' if kvm else 'qemu'}'>
<name>{guest.name}</name><uuid>00000000-0000-0000-0001-00000000000{guest.number}</uuid><genid/>
<memory unit='MiB'>{hardware.MEMORY_MIB}</memory><vcpu>1</vcpu>
<os><type arch='x86_64' machine='q35'>hvm</type><kernel>{made.kernel}</kernel><initrd>{made.initramfs}</initrd>
<cmdline>{hardware.kernel_arguments(guest.number, accelerator)}</cmdline></os>
<features><acpi/>{'' if kvm else "<tcg><tb-cache unit='MiB'>128</tb-cache></tcg>"}<vmport state='off'/></features>
<cpu mode='{'host-passthrough' if kvm else 'maximum'}'/>
<on_reboot>destroy</on_reboot>
<devices><emulator>/usr/bin/{hardware.QEMU}</emulator>
{_disk_xml(made.root_disk, 'vda')}{_disk_xml(disk, 'vdb')}
<controller type='usb' model='none'/><controller type='pci' model='pcie-root'/>
{"<controller type='pci' model='pcie-root-port'/>" * 10}
{_card_xml('tcp', guest)}{_card_xml('rdma', guest, CARD)}
<serial type='file'><source path='/var/log/libvirt/{guest.name}.console'/></serial>
<channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
<rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
<memballoon model='none'/><video><model type='none'/></video></devices></domain>
"""


class HostsLab:
    """What a job in guests needs of a lab."""

    def __init__(self, build_directory):
        self.build_directory = build_directory
        self.hosts = [Host(1), Host(2)]
        self.guests = [Domain(1), Domain(2)]

    @property
    def pace(self):
        return max(guest.pace for guest in self.guests)

    def other(self, host):
        return self.hosts[1 - self.hosts.index(host)]

    def start(self, made, disk, accelerator):
        shutil.rmtree(RUN, ignore_errors=True)
        os.makedirs(RUN)
        for host in self.hosts:
            host.start()
        for host in self.hosts:
            wait_until(f"{host.name} to be set up", lambda h=host: os.path.exists(os.path.join(h.directory, "etc/libvirt/qemu.conf")), 20)
        self._lay_cables()
        for host in self.hosts:
            host.wait_daemon()
        started = time.monotonic()
        for guest, host in zip(self.guests, self.hosts):
            guest.start_on(host, made, disk, accelerator)
        for guest in self.guests:
            guest.wait_ready(FIRST_BOOT_SECONDS)
            guest.pace = max(1, (time.monotonic() - started) / lab.BOOT_SECONDS)
        for guest in self.guests:
            guest.output(f"date -s @{time.time():.0f} >/dev/null; mount -o ro /dev/vdb {products.MOUNTED}")

    def _lay_cables(self):
        one, other = self.hosts
        for number, bridge in enumerate(BRIDGES):
            ends = [f"lb{bridge}{host.number}" for host in self.hosts]
            one.inside("ip", "link", "add", ends[0], "mtu", MTU, "type", "veth", "peer", "name", ends[1], "mtu", MTU)
            self._give(one, ends[1], other)
            for host, end in zip(self.hosts, ends):
                # Its own address: by itself a bridge has the lowest of its cards', which may be a guest's and move away with it.
                host.inside("ip", "link", "add", bridge, "address", f"52:54:00:63:0{number}:0{host.number}", "mtu", MTU, "type", "bridge")
                for words in ((end, "master", bridge), (end, "up"), (bridge, "up")):
                    host.inside("ip", "link", "set", *words)
                if bridge == "br0":
                    for address in (f"10.99.0.{host.number}/24", f"10.0.0.{100 + host.number}/24"):  # the latter sees the guests
                        host.inside("ip", "addr", "add", address, "dev", bridge)

    @staticmethod
    def _give(host, link, other):
        """The other's process is known by that number outside of the namespaces of processes alone."""
        run("nsenter", "-t", str(host.inner()), "--net", "--", "ip", "link", "set", link, "netns", str(other.inner()))

    def down(self):
        for host in self.hosts:
            host.stop()


@contextlib.contextmanager
def new(build_directory=None):
    """Two hosts with a guest each, ready."""
    check(os.geteuid() == 0, "hosts with libvirt take root")
    hardware.install_tools(lab.say, TOOLS, "libvirt")
    made, disk, accelerator = lab.prepare(build_directory)
    with locked("lab", "a lab is up in this checkout: scripts/vmlab/lab down ends it"):
        image.forget_others(made)
        products.forget_others(disk)
        hosts = HostsLab(build_directory or lab.RELEASE)
        try:
            hosts.start(made, disk, accelerator)
            yield hosts
        finally:
            hosts.down()
