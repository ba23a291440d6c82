# SPDX-License-Identifier: BSD-3-Clause
"""The guests' kernel: Debian's stock one, unpacked for direct boot, and those of its modules that the lab loads."""
import lzma
import os
import shutil
import struct

from tests.harness.commands import run
from tests.harness.waiting import check


# Modules that a guest may load; their dependencies are included.
MODULES = ("virtio_pci", "virtio_net", "virtio_blk", "virtio_console", "virtio_rng", "af_packet", "ext4", "crc32c_generic",
           "overlay", "rdma_rxe", "crc32_generic", "ib_uverbs", "rdma_ucm", "e1000e", "sch_netem",
           # What CRIU asks for sockets by, and what it keeps strangers' packets away with.
           "af_packet_diag", "inet_diag", "netlink_diag", "raw_diag", "tcp_diag", "udp_diag", "unix_diag", "nf_tables")
TO_MOUNT_ROOT = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "overlay")


def decompress(bzimage):
    """The ELF kernel inside: QEMU can start it directly, which saves an emulated processor 2-3 s of decompression.
    Offsets: the kernel's Documentation/arch/x86/boot.rst."""
    setup_sectors = bzimage[0x1f1]
    offset, length = struct.unpack_from("<II", bzimage, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    elf = lzma.LZMADecompressor().decompress(bzimage[start:start + length])
    check(elf[:4] == b"\x7fELF", "the kernel package holds no kernel in the expected form")
    return elf


class Kernel:
    """An unpacked kernel package."""

    def __init__(self, directory):
        self.directory = directory
        self.version, = os.listdir(os.path.join(directory, "lib", "modules"))
        self.modules = os.path.join(directory, "lib", "modules", self.version)
        run(["depmod", "-b", directory, self.version], "listing the kernel's modules")
        self._needs = {}  # name: (path, [names])
        with open(os.path.join(self.modules, "modules.dep"), encoding="utf-8") as file:
            for line in file:
                path, _, needed = line.partition(":")
                self._needs[_name(path)] = (path, [_name(each) for each in needed.split()])

    def write_vmlinux(self, target):
        with open(os.path.join(self.directory, "boot", "vmlinuz-" + self.version), "rb") as file:
            elf = decompress(file.read())
        with open(target, "wb") as file:
            file.write(elf)

    def in_load_order(self, names):
        """Paths, below self.modules, of these modules and all that they need."""
        ordered = []
        for name in names:
            if name not in self._needs:
                continue  # compiled in
            path, needed = self._needs[name]
            ordered += [self._needs[each][0] for each in reversed(needed)] + [path]
        return list(dict.fromkeys(ordered))

    def copy_modules(self, root):
        target = os.path.join(root, "usr", "lib", "modules", self.version)
        for path in ("modules.builtin", "modules.order", "modules.builtin.modinfo", *self.in_load_order(MODULES)):
            os.makedirs(os.path.dirname(os.path.join(target, path)), exist_ok=True)
            shutil.copy(os.path.join(self.modules, path), os.path.join(target, path))
        run(["depmod", "-b", root, self.version], "listing the guests' modules")


def _name(path):
    return os.path.basename(path)[:-len(".ko")].replace("-", "_")
