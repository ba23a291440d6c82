# SPDX-License-Identifier: BSD-3-Clause
"""The first process of a host of scripts/vmlab/libvirt.py, in namespaces of its own: it gives the host its own directories of
libvirt, starts the daemon whenever there is none, and collects processes that have lost their parent.

usage: libvirt_host.py DIRECTORY NAME NUMBER
"""
import os
import subprocess
import sys
import time

OWN = ("etc/libvirt", "run/libvirt", "var/lib/libvirt", "var/log/libvirt", "var/cache/libvirt")
USER = "libvirt-qemu"  # Debian's libvirt asks for it when it starts, even if its settings name another
DAEMON = """unix_sock_group = "root"
auth_unix_rw = "none"
auth_unix_ro = "none"
listen_tls = 0
host_uuid = "00000000-0000-0000-0000-00000000000{number}"
log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
"""
QEMU = """user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
migration_host = "10.99.0.{number}"
migration_address = "10.99.0.{number}"
"""


def run(*words):
    subprocess.run(words, check=True)


def instead_of(path, directory, more):
    """Its own copy of a file of /etc, with these lines."""
    copy = os.path.join(directory, os.path.basename(path))
    with open(path, encoding="utf-8") as old, open(copy, "w", encoding="utf-8") as new:
        new.write("".join(line for line in old if not line.startswith(USER + ":")) + more)
    run("mount", "--bind", copy, path)


def set_up(directory, name, number):
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "proc", "proc", "/proc")
    for own in OWN:
        os.makedirs(os.path.join(directory, own), exist_ok=True)
        os.makedirs("/" + own, exist_ok=True)
        run("mount", "--bind", os.path.join(directory, own), "/" + own)
    instead_of("/etc/passwd", directory, f"{USER}:x:64055:64055::/nonexistent:/bin/false\n")
    instead_of("/etc/group", directory, f"{USER}:x:64055:\n")
    instead_of("/etc/hosts", directory, "10.99.0.1 host1\n10.99.0.2 host2\n")
    run("hostname", name)
    run("ip", "link", "set", "lo", "up")
    for file, text in (("libvirtd.conf", DAEMON), ("qemu.conf", QEMU)):
        with open("/etc/libvirt/" + file, "w", encoding="utf-8") as out:
            out.write(text.format(number=number))


def collect():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main(directory, name, number):
    set_up(directory, name, number)
    pid_file = os.path.join(directory, "run/libvirt/libvirtd.pid")
    daemon = None
    while True:
        if daemon is not None and daemon.poll() is not None:
            daemon = None
        if daemon is None:
            if os.path.exists(pid_file):
                os.remove(pid_file)
            daemon = subprocess.Popen(["libvirtd", "-p", "/run/libvirt/libvirtd.pid"], stdin=subprocess.DEVNULL)
            with open(os.path.join(directory, "daemon.pid"), "w", encoding="utf-8") as file:
                file.write(str(daemon.pid))
        collect()
        time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
