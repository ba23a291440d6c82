# SPDX-License-Identifier: BSD-3-Clause
"""Which folders may include which. docs/ARCHITECTURE.md gives the reasons; change both."""
import os
import re

from lintlib import cpp

# Folder -> what its files may include of the project: folders, or single headers. A folder always sees itself. An entry
# "a" covers "a/b", too; a folder "a/b" without a row of its own has that of "a".
# "tests" is not listed: tests see everything, and nobody sees them.
_VALUES = [f"core/engine/{name}.h" for name in ("admin", "config", "context", "engine_page", "parts")]
_CORE = ["include", "base", "transports/interface", *_VALUES]
_CONTROL = ["include", "base", "core/engine/admin.h", "core/engine/engine_page.h", "core/switch/routing.h"]
_VM = ["include", "base", "hypervisor/vm"]
_TRANSPORT = ["include", "base", "transports/interface", "transports/messages"]
ALLOWED = {
    "include": [],
    "base": ["include"],
    "core/switch": _CORE,
    "core/path": _CORE + ["core/switch/released.h", "core/switch/returning.h"],
    "core/lane": _CORE + ["core/path", "core/switch/settle.h"],
    "core/bml": _CORE + ["core/lane", "core/path", "core/switch"],
    "core/engine": _CORE + ["core/bml", "core/lane", "core/path", "core/switch"],
    "transports": _TRANSPORT,
    "transports/interface": ["include", "base"],
    "transports/messages": ["include", "base", "transports/interface"],
    "control/ladder": _CONTROL,
    "control/place": _CONTROL + ["control/ladder"],
    "control/wire": _CONTROL + ["control/ladder", "control/place"],
    "control/client": _CONTROL + ["control/ladder", "control/place", "control/wire"],
    "control/agent": _CONTROL + ["control/ladder", "control/place", "control/wire", "control/client"],
    "control/relay": _CONTROL + ["control/ladder", "control/place", "control/wire", "control/client"],
    "hypervisor/vm": ["include", "base"],
    "hypervisor/qmp": _VM,
    "hypervisor/libvirt": _VM,
    "hypervisor/plan": _VM,
    "hypervisor/migrate": _VM + ["hypervisor/plan"],
    "hypervisor/set": _VM + ["hypervisor/plan"],
    "hypervisor/snapshot": _VM + ["hypervisor/plan", "hypervisor/set"],
    "hypervisor/criu": _VM + ["hypervisor/plan", "hypervisor/set"],
    "hypervisor/restore": _VM + ["hypervisor/plan", "hypervisor/set"],
    "launch": ["include", "base"],
    "doctor": ["include", "base", "launch"],
    "perf": ["include", "base", "control/ladder", "control/place", "control/wire", "control/client"],
    "ctl-tool": ["include", "base", "launch", "doctor", "perf/line.h", "control/ladder", "control/place", "control/wire", "control/client", "hypervisor"],
    "watchd": ["include", "base", "hypervisor/vm"],
    "kubevirt": ["include", "base", "hypervisor/vm", "hypervisor/qmp"],
    "provider": ["include", "base"],
    "ompi": ["include", "base"],
    "runtime": ["include", "base", "core", "transports", "transports/builtin", "control"],
    "bench": ["include", "base", "core", "transports"],
    "examples": ["include"],
}
# Folder -> what its .cc files may include besides: parts above it that it calls, and that its headers only name.
SOURCES_ALSO = {
    "core/switch": ["core/bml"],
}
# What only these folders may include of other libraries. Tests may include all.
FOREIGN = [
    (re.compile(r"^(zmq|zmq_addon)\.h(pp)?$"), ["control/wire", "control/client", "control/relay"]),
    (re.compile(r"^infiniband/"), ["transports/verbs"]),
    (re.compile(r"^rdma/(rdma|ib_user)_"), ["transports/verbs"]),
    (re.compile(r"^rdma/"), ["provider", "transports/ofi", "bench"]),
    (re.compile(r"^mpi\.h$"), ["bench", "scripts", "ompi"]),
    (re.compile(r"^(ompi|opal|orte|oshmem)(/|_config\.h$)"), ["ompi"]),
]
TRANSPORT_NAMES = {"self", "sm", "tcp", "verbs", "ofi", "vader", "openib"}


_WINGED = {"core", "control", "hypervisor", "transports"}  # each of their folders is one of the picture; of the others, the whole is


def folder_of(path):
    """The folder of the picture that a file lies in; transports/builtin.* knows all transports."""
    parts = path.split("/")
    if parts[0] in _WINGED and len(parts) > 2:
        return "/".join(parts[:2])
    return "transports/builtin" if parts[0] == "transports" else parts[0]


def _allowed_for(folder):
    if folder == "transports/builtin":
        return _TRANSPORT + ["transports"]
    return ALLOWED.get(folder, ALLOWED.get(folder.split("/", maxsplit=1)[0]))


def _covers(allowed, target):
    """Is the target's whole folder among the allowed ones?"""
    folder = folder_of(target)
    return any(folder == entry or folder.startswith(entry + "/") for entry in allowed)


def _permits(path, allowed, target):
    more = [] if path.endswith(".h") else SOURCES_ALSO.get(folder_of(path), [])
    return target in allowed or _covers(allowed, target) or _covers(more, target)


def _excepted(path, target):
    """A single header that a row names, or what a .cc file calls above it: no floor of the picture."""
    folder = folder_of(path)
    return target in (_allowed_for(folder) or []) or _covers(SOURCES_ALSO.get(folder, []), target)


def resolve(files, path, quoted, name):
    """The project's file that an include means; None: another library's."""
    candidates = ["include/" + name, name]
    if quoted:
        candidates.insert(0, os.path.normpath(os.path.join(os.path.dirname(path), name)))
    return next((each for each in candidates if each in files), None)


def _edges(files):
    for path in files.cpp():
        for line, quoted, name in cpp.includes(files.text(path)):
            yield path, line, name, quoted, resolve(files, path, quoted, name)


def check_includes(files):
    for path, line, name, quoted, target in _edges(files):
        folder = folder_of(path)
        if folder == "tests":
            continue
        for pattern, owners in FOREIGN:
            if target is None and pattern.match(name):
                if folder not in owners:
                    yield f"{path}:{line}: includes {name}, which belongs to {' and '.join(owners)}"
                break
        if target is None:
            if quoted:
                yield f'{path}:{line}: "{name}" is no file of the project; use <> for a library'
            continue
        allowed = _allowed_for(folder)
        if allowed is None:
            yield f"{path}:{line}: folder {folder} has no rule in scripts/lintlib/folders.py"
        elif folder_of(target) != folder and not _permits(path, allowed, target):
            yield f"{path}:{line}: {folder} must not include {target}"


def check_transport_names(files):
    for path in files.cpp():
        if not path.startswith("core/"):
            continue
        for line, value in cpp.string_literals(files.text(path)):
            if value in TRANSPORT_NAMES:
                yield f'{path}:{line}: core names the transport "{value}"'


def _cycle(graph):
    """One cycle as a list of nodes, first and last the same; None: there is none."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node) :] + [node]
        if node in done:
            return None
        trail.append(node)
        for following in sorted(graph.get(node, ())):
            found = visit(following)
            if found:
                return found
        trail.pop()
        done.add(node)
        return None

    for node in sorted(graph):
        found = visit(node)
        if found:
            return found
    return None


def check_cycles(files):
    headers, folders = {}, {}
    for path, _, _, _, target in _edges(files):
        if target is None or folder_of(path) == "tests":
            continue
        headers.setdefault(path, set()).add(target)
        if folder_of(path) != folder_of(target) and not _excepted(path, target):
            folders.setdefault(folder_of(path), set()).add(folder_of(target))
    for what, graph in (("folders", folders), ("files", headers)):
        found = _cycle(graph)
        if found:
            yield f"{found[0]}: {what} include each other in a circle: {' -> '.join(found)}"
