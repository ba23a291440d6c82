# SPDX-License-Identifier: BSD-3-Clause
"""Makes what a guest boots from: kernel, initramfs, and a read-only root disk that all guests share. Cached by content.

No package's maintainer script runs: what they would have made is written here.
"""
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile

from tests.harness.commands import run
from tests.harness.launcher import CAPTURE
from tests.harness.waiting import check

from . import packages
from .kernel import TO_MOUNT_ROOT, Kernel
from .places import GUEST_FILES, HERE, IMAGES, PACKAGES

GUESTS = 3
# (path in the image, text)
FILES = (
    ("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/bin/false\n"
                   "nobody:x:65534:65534:nobody:/:/bin/false\n"),
    ("etc/group", "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n"),
    ("etc/shadow", "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n"),
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ("etc/hosts", "127.0.0.1 localhost\n" + "".join(f"10.0.0.{n} vm{n}\n10.0.1.{n} vm{n}-rdma\n" for n in range(1, GUESTS + 1))),
    # The guests talk only to each other, with a key made for them.
    ("etc/ssh/ssh_config", "Host *\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
                           " IdentityFile /etc/ssh/lab_key\n Ciphers aes128-ctr\n KexAlgorithms curve25519-sha256\n"),
    ("etc/ssh/sshd_config", "HostKey /etc/ssh/lab_key\nAuthorizedKeysFile /etc/ssh/lab_key.pub\nPermitRootLogin yes\n"
                            "StrictModes no\nUseDNS no\nUsePAM no\n"),
)
DIRECTORIES = ("dev", "mnt", "opt/livebtl", "proc", "root", "run", "sys", "tmp", "var/empty", "etc/ssh")
DOCUMENTS = ("doc", "man", "locale", "info", "lintian", "bash-completion", "bug")


class Image:
    """A built image: paths of its parts."""

    def __init__(self, key):
        self.key = key
        self.directory = os.path.join(IMAGES, key)
        self.kernel = os.path.join(self.directory, "vmlinux")
        self.initramfs = os.path.join(self.directory, "initrd.img")
        self.root_disk = os.path.join(self.directory, "root.ext4")


def build(say):
    """The image of today's packages and recipe; made only if it is not there."""
    os.makedirs(PACKAGES, exist_ok=True)
    used, kernel = packages.choose()
    image = Image(_key(used, kernel))
    if os.path.isdir(image.directory):
        return image
    say(f"packages: {len(used) + 1} from Debian, fetched into {os.path.relpath(PACKAGES)}")
    packages.fetch(used, kernel)
    os.makedirs(IMAGES, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=IMAGES) as work:
        say("image: kernel, initramfs, root disk")
        made = os.path.join(work, "made")
        os.mkdir(made)
        _make(work, made, used, kernel)
        os.rename(made, image.directory)
    return image


def forget_others(image):
    """Removes older images; no guest may be up."""
    for name in os.listdir(IMAGES):
        if name != image.key and not name.startswith("new-"):
            shutil.rmtree(os.path.join(IMAGES, name))


def _recipe():
    """Every file that decides what is in the image."""
    names = [os.path.join(GUEST_FILES, name) for name in sorted(os.listdir(GUEST_FILES))]
    return [*names, CAPTURE, os.path.join(HERE, "image.py"), os.path.join(HERE, "kernel.py")]


def _key(used, kernel):
    content = hashlib.sha256(repr((used, kernel)).encode())
    for path in _recipe():
        with open(path, "rb") as file:
            content.update(file.read())
    return content.hexdigest()[:16]


def _make(work, made, used, kernel_package):
    root, unpacked = os.path.join(work, "root"), os.path.join(work, "kernel")
    _make_skeleton(root)
    for package in used:
        _unpack(package, root, "--keep-directory-symlink", *(f"--exclude=./usr/share/{name}" for name in DOCUMENTS))
    _make_skeleton(unpacked)
    _unpack(kernel_package, unpacked, "--keep-directory-symlink")
    kernel = Kernel(unpacked)
    kernel.write_vmlinux(os.path.join(made, "vmlinux"))
    kernel.copy_modules(root)
    _configure(root)
    make_disk(root, os.path.join(made, "root.ext4"))
    _make_initramfs(os.path.join(work, "initramfs"), kernel, root, os.path.join(made, "initrd.img"))
    with open(os.path.join(made, "manifest"), "w", encoding="utf-8") as file:
        file.writelines(f"{each.sha256}  {each.file}\n" for each in (*used, kernel_package))


def _make_skeleton(root):
    for name in ("bin", "sbin", "lib", "lib64"):  # Debian's merged /usr
        os.makedirs(os.path.join(root, "usr", name))
        os.symlink("usr/" + name, os.path.join(root, name))
    for name in DIRECTORIES:
        os.makedirs(os.path.join(root, name), exist_ok=True)


def _unpack(package, target, *options):
    path = os.path.join(PACKAGES, package.file)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as archive:
        run(["tar", "-x", "-C", target, "--no-same-owner", *options], "unpacking " + package.file, stdin=archive.stdout)
    check(archive.returncode == 0, f"{path} is damaged: remove it")


def _configure(root):
    for path, text in FILES:
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
    key = os.path.join(root, "etc/ssh/lab_key")
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", key], "making the guests' key")
    for path in (os.path.join(GUEST_FILES, "lab-init"), os.path.join(GUEST_FILES, "lab-nics"), CAPTURE):
        made = shutil.copy(path, os.path.join(root, "usr/sbin"))
        os.chmod(made, 0o755)
    busybox = os.path.join(root, "usr/bin/busybox")
    for applet in run([busybox, "--list"], "listing busybox's commands").split():
        if not any(os.path.lexists(os.path.join(root, "usr", place, applet)) for place in ("bin", "sbin")):
            os.symlink("busybox", os.path.join(root, "usr/bin", applet))
    for name in ("mpirun", "mpiexec"):  # alternatives
        if not os.path.lexists(os.path.join(root, "usr/bin", name)):
            os.symlink("mpirun.openmpi", os.path.join(root, "usr/bin", name))
    psm = os.path.join(root, "usr/lib/libpsm1")  # an alternative too; libfabric links it
    if os.path.isdir(psm):
        os.symlink("libpsm1/" + sorted(os.listdir(psm))[0], os.path.join(root, "usr/lib/libpsm_infinipath.so.1"))
    run(["ldconfig", "-r", root], "listing the guests' libraries")


def make_disk(tree, target):
    """A read-only ext4 disk with these files, all owned by root, whichever user makes it."""
    size = sum(os.lstat(os.path.join(place, name)).st_size // 4096 * 4096 + 4096
               for place, directories, files in os.walk(tree) for name in directories + files)
    mebibytes = size // (1 << 20) * 9 // 8 + 16
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    run([*as_root, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum,^64bit", "-m", "0",
         "-d", tree, target, f"{mebibytes}M"], "making a disk")


def _make_initramfs(directory, kernel, root, target):
    for name in ("bin", "dev", "image", "lib", "proc", "root", "sys", "written"):
        os.makedirs(os.path.join(directory, name))
    shutil.copy(os.path.join(root, "usr/bin/busybox"), os.path.join(directory, "bin"))
    shutil.copy(os.path.join(GUEST_FILES, "initramfs-init"), os.path.join(directory, "init"))
    os.chmod(os.path.join(directory, "init"), stat.S_IRWXU)
    with open(os.path.join(directory, "lib", "order"), "w", encoding="utf-8") as order:
        for path in kernel.in_load_order(TO_MOUNT_ROOT):
            order.write(kernel.copy(path, os.path.join(directory, "lib")) + "\n")
    make_archive(directory, target)


def make_archive(directory, target):
    """An initramfs of this directory."""
    names = "\0".join(sorted(os.path.relpath(os.path.join(place, name), directory)
                             for place, directories, files in os.walk(directory) for name in directories + files))
    archive = run(["cpio", "--null", "--create", "--format=newc", "--owner=0:0", "--quiet"], "making an initramfs",
                  cwd=directory, text=False, input=names.encode())
    with open(target, "wb") as file:
        file.write(archive)
