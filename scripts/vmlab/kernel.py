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


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def decompress(bzimage):
    """The ELF kernel inside, compressed with xz by Debian 12, with zstd by Debian 13: QEMU can start it directly, which saves an
    emulated processor 2-3 s of decompression. Offsets: the kernel's Documentation/arch/x86/boot.rst."""
    setup_sectors = bzimage[0x1f1]
    offset, length = struct.unpack_from("<II", bzimage, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = bzimage[start:start + length - 4]  # behind it the kernel's build writes how long it is when decompressed
    if payload.startswith(ZSTD_MAGIC):
        elf = run(["zstd", "-dcq"], "decompressing the kernel", text=False, input=payload)
    else:
        elf = lzma.LZMADecompressor().decompress(payload)
    check(elf[:4] == b"\x7fELF", "the kernel package holds no kernel in the expected form")
    return elf


class Kernel:
    """An unpacked kernel package."""

    def __init__(self, directory):
        """Its modules are in lib in Debian 12, in usr/lib in Debian 13: `directory` has a link from the one to the other."""
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
        """Paths, below self.modules, of these modules and all that they need; without those that are compiled in."""
        ordered = []
        for name in names:
            if name not in self._needs:
                continue  # compiled in
            path, needed = self._needs[name]
            ordered += [self._needs[each][0] for each in reversed(needed)] + [path]
        return list(dict.fromkeys(ordered))

    def copy(self, path, directory):
        """A file below self.modules into another directory, a module decompressed: busybox takes no other. Returns its name
        there."""
        name = os.path.basename(path)
        if not name.endswith(".ko.xz"):
            shutil.copy(os.path.join(self.modules, path), directory)
            return name
        name = name.removesuffix(".xz")
        with lzma.open(os.path.join(self.modules, path)) as packed, open(os.path.join(directory, name), "wb") as file:
            shutil.copyfileobj(packed, file)
        return name

    def copy_modules(self, root):
        target = os.path.join(root, "usr", "lib", "modules", self.version)
        for path in ("modules.builtin", "modules.order", "modules.builtin.modinfo", *self.in_load_order(MODULES)):
            os.makedirs(os.path.dirname(os.path.join(target, path)), exist_ok=True)
            self.copy(path, os.path.join(target, os.path.dirname(path)))
        run(["depmod", "-b", root, self.version], "listing the guests' modules")


def _name(path):
    return os.path.basename(path).partition(".ko")[0].replace("-", "_")
