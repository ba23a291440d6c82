# SPDX-License-Identifier: BSD-3-Clause
"""The files that the rules look at: a path, relative to the root, and its text."""
import os
import subprocess

CPP = (".h", ".cc", ".c", ".hpp", ".cpp")


class Tree:
    """root: where the files lie, for tools that read them themselves."""

    def __init__(self, root, texts):
        self.root = root
        self._texts = texts

    def paths(self):
        return sorted(self._texts)

    def cpp(self):
        return [path for path in self.paths() if path.endswith(CPP)]

    def text(self, path):
        return self._texts[path]

    def __contains__(self, path):
        return path in self._texts


def tracked(root):
    """All files that git tracks and that are text."""
    names = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    texts = {}
    for name in filter(None, names):
        path = os.path.join(root, name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue  # deleted in the work tree, or a link to another file
        with open(path, "rb") as file:
            data = file.read()
        if b"\0" in data or name.startswith("tests/fuzz/corpus/"):
            continue
        texts[name] = data.decode("utf-8")
    return Tree(root, texts)


def is_test(path):
    return path.startswith("tests/")
