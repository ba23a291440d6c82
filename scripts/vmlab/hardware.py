# SPDX-License-Identifier: BSD-3-Clause
"""A guest's hardware: QEMU's command line, and devices that are plugged in while it runs."""
import os
import re
import tempfile

from tests.harness.commands import ROOT, run

from .image import make_archive
from .places import STATE

QEMU = "qemu-system-x86_64"
MEMORY_MIB = 512
# What can be plugged in and pulled out, each in a root port of its own.
RDMA, BLOCKER, DISK = "rdma", "blocker", "products"
PORTS = (RDMA, BLOCKER, DISK)
FIXED = "fixed"  # a device on a bus without hot plug
SEGMENTS = ("tcp", "rdma")
NO_TIMER_TROUBLE = "no_timer_check mitigations=off random.trust_cpu=on"
PROBE_SECONDS = 15
TOOLS = (QEMU, "cpio", "depmod", "mke2fs", "zstd", "ssh-keygen", "cmake", "ninja", "mpicc")


def socket_of(segment):
    return segment + ".switch"


def address(segment, number):
    return f"52:54:00:00:{SEGMENTS.index(segment):02x}:{number:02x}"


def card(segment, number):
    """The network card on a segment, as device_add takes it. No boot ROM: nothing to boot from, less to migrate."""
    return {"driver": "virtio-net-pci", "netdev": segment + "-net", "mac": address(segment, number), "romfile": ""}


def device(name, guest):
    """(objects, device) of what is plugged in: arguments of object-add and device_add."""
    place = {"id": name, "bus": "port-" + name}
    if name == RDMA:
        return None, card("rdma", guest.card) | place
    if name == BLOCKER:
        # As a peer it holds memory that is not the guest's own, so QEMU refuses to migrate: like a passed-through VF.
        memory = {"qom-type": "memory-backend-ram", "id": "blocker-memory", "size": 1 << 20, "share": True}
        return memory, {"driver": "ivshmem-plain", "memdev": "blocker-memory"} | place
    return None, {"driver": "virtio-blk-pci", "drive": "products-file"} | place


def _words(arguments):
    name = arguments.get("driver") or arguments["qom-type"]
    rest = {key: value for key, value in arguments.items() if key not in ("driver", "qom-type")}
    return ",".join([name, *(f"{key}={_value(value)}" for key, value in rest.items())])


def _value(value):
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else str(value).replace(",", ",,")


def disk_file(name, path):
    """The same for -blockdev and blockdev-add; many guests read it at once."""
    return {"driver": "raw", "node-name": name, "read-only": True,
            "file": {"driver": "file", "filename": path, "locking": "off", "read-only": True}}


def command(guest, image, accelerator):
    """QEMU's words for this guest; it runs in RUN, so that the paths of its sockets are short."""
    name = guest.instance_name()
    words = [QEMU, "-name", name, "-machine", "q35,usb=off,vmport=off,smbus=off", *accelerator.split(),
             "-m", str(MEMORY_MIB), "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
             "-kernel", image.kernel, "-initrd", image.initramfs, "-append", kernel_arguments(guest.number, accelerator),
             "-chardev", f"file,id=console,path={guest.name}.console,append=on", "-serial", "chardev:console",
             # The second is for looking in while the first is in use: a monitor serves one client.
             "-qmp", f"unix:{name}.qmp,server=on,wait=off", "-qmp", f"unix:{name}.second,server=on,wait=off",
             "-device", f"vmgenid,guid={guest.generation}",
             "-blockdev", _blockdev("root-file", image.root_disk), "-device", "virtio-blk-pci,drive=root-file",
             "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={name}.agent,server=on,wait=off",
             "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0", "-device", f"virtio-rng-pci,id={FIXED}"]
    for number, port in enumerate(PORTS, 1):
        words += ["-device", f"pcie-root-port,id=port-{port},chassis={number},slot={number}"]
    for segment in SEGMENTS:
        words += ["-netdev", f"stream,id={segment}-net,server=off,addr.type=unix,addr.path={socket_of(segment)}"]
    words += ["-device", _words(card("tcp", guest.number))]
    return words + _plugged(guest)


def _plugged(guest):
    words = []
    for name in guest.plugged:
        memory, plug = device(name, guest)
        if name == DISK:
            words += ["-blockdev", _blockdev("products-file", guest.disk)]
        if memory:
            words += ["-object", _words(memory)]
        words += ["-device", _words(plug)]
    return words


def _blockdev(name, path):
    return (f"driver=raw,node-name={name},read-only=on,file.driver=file,file.filename={_value(path)},file.locking=off,"
            "file.read-only=on")


def kernel_arguments(number, accelerator):
    return f"console=ttyS0 quiet panic=-1 {NO_TIMER_TROUBLE} {_clock(accelerator)} guest={number}"


def _clock(accelerator):
    """An emulated guest that calibrates its clock on a busy machine gets it wrong (once by a factor of 7): so it is told."""
    if "kvm" in accelerator:
        return ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^cpu MHz\s*: ([0-9.]+)", file.read(), re.MULTILINE)
    return f"tsc_early_khz={float(found[1]) * 1000:.0f}" if found else "clocksource=hpet"


def accelerator(image, say):
    """-accel and -cpu: KVM if a stock kernel boots under it here, else emulation. Tried once for each image."""
    version = run([QEMU, "--version"], "asking QEMU for its version").splitlines()[0]
    question = f"{image.key} {os.uname().release} {version}"
    path = os.path.join(STATE, "accelerator")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            asked, answer = file.read().splitlines()
        if asked == question:
            return answer
    answer = "-accel kvm -cpu host" if _kvm_works(image) else "-accel tcg,thread=multi,tb-size=128 -cpu max"
    say(f"accelerator: {answer}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{question}\n{answer}\n")
    return answer


def _kvm_works(image):
    """True if the stock kernel soon reaches its first process. (/dev/kvm may exist and not work: nested, say.)"""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with tempfile.TemporaryDirectory(prefix="probe-", dir=STATE) as work:
        tree, archive = os.path.join(work, "tree"), os.path.join(work, "initrd.img")
        os.mkdir(tree)
        with open(os.path.join(tree, "init"), "w", encoding="utf-8") as file:
            file.write("#!/none\n")
        os.chmod(os.path.join(tree, "init"), 0o755)
        make_archive(tree, archive)
        words = ["timeout", str(PROBE_SECONDS), QEMU, "-machine", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256", "-display",
                 "none", "-nodefaults", "-serial", "stdio", "-no-reboot", "-kernel", image.kernel, "-initrd", archive, "-append",
                 "console=ttyS0 panic=-1"]
        return "Run /init as init process" in run(["sh", "-c", '"$@" 2>/dev/null || true', "sh", *words], "trying KVM")


def install_tools(say, tools=TOOLS, packages="vmlab"):
    """Installs what the host needs with scripts/setup, which takes root or sudo."""
    missing = [tool for tool in tools if not _present(tool)]
    if missing:
        say(f"not installed: {', '.join(missing)}: scripts/setup {packages}")
        run([os.path.join(ROOT, "scripts", "setup"), packages], "installing")


def _present(tool):
    return any(os.access(os.path.join(place, tool), os.X_OK) for place in os.get_exec_path() + ["/usr/sbin", "/sbin"])
