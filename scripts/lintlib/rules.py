# SPDX-License-Identifier: BSD-3-Clause
"""The rules that a file keeps or breaks. Each yields lines "path:line: what is wrong"."""
import ast
import re
import subprocess

from lintlib import cpp, folders, sizes, tree, words

CLANG_FORMAT = "clang-format-14"
SHELL = re.compile(r"#!.*\b(ba)?sh\n")
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
_SOURCES = tree.CPP + (".py", ".sh", ".cmake", ".pml", "CMakeLists.txt")
# As a mark (at the start of a comment, or with a colon or brackets), not as a word in a sentence.
_OPEN_END = re.compile(r"(?:(?://|#|/\*|<!--)\s*(TODO|FIXME|XXX)\b|\b(TODO|FIXME|XXX)\s*[:(])(?!#\d+\)|\(#\d+\))")


def check_licence(files):
    for path in files.paths():
        lines = files.text(path).split("\n")
        script = lines[0].startswith("#!")
        if not script and not path.endswith(_SOURCES):
            continue
        if LICENCE not in (lines[1] if script and len(lines) > 1 else lines[0]):
            yield f"{path}:1: the first line (after #!) must hold '{LICENCE}'"


def check_goto(files):
    for path in files.cpp():
        for number, line in enumerate(cpp.bare(files.text(path)).split("\n"), 1):
            if re.search(r"\bgoto\b", line):
                yield f"{path}:{number}: goto"


def check_open_ends(files):
    for path in files.paths():
        if path.startswith("scripts/lintlib/"):
            continue  # these files speak about the marks
        for number, line in enumerate(files.text(path).split("\n"), 1):
            found = _OPEN_END.search(line)
            if found:
                mark = found[1] or found[2]
                yield f"{path}:{number}: {mark} without the number of an issue, as in {mark}(#12)"


def check_lengths(files):
    for path, lines in sizes.file_lengths(files):
        if lines > sizes.FILE_HARD:
            yield f"{path}:{lines}: {lines} lines; a file has at most {sizes.FILE_HARD}"
    for path, line, lines, name in sizes.function_lengths(files):
        if lines > sizes.FUNCTION_HARD:
            yield f"{path}:{line}: {name} has {lines} lines; a function has at most {sizes.FUNCTION_HARD}"


def check_python(files):
    for path in files.paths():
        if path.endswith(".py"):
            try:
                ast.parse(files.text(path))
            except SyntaxError as error:
                yield f"{path}:{error.lineno}: {error.msg}"


def check_format(files):
    paths = files.cpp()
    if not paths:
        return
    try:
        done = subprocess.run(
            [CLANG_FORMAT, "--dry-run", "-Werror", "--ferror-limit=1", *paths],
            cwd=files.root, capture_output=True, text=True, check=False,
        )
    except FileNotFoundError:
        yield f"{paths[0]}:1: {CLANG_FORMAT} is missing: apt-get install {CLANG_FORMAT}"
        return
    for line in done.stderr.split("\n"):
        found = re.match(r"(.*?:\d+):\d+: error: code should be clang-formatted", line)
        if found:
            yield f"{found[1]}: not clang-formatted: {CLANG_FORMAT} -i on this file"
    if done.returncode not in (0, 1):
        yield f"{paths[0]}:1: {CLANG_FORMAT} failed: {done.stderr[:200]}"


def check_shell(files):
    """What is run by sh or bash, as its first line says."""
    paths = [path for path in files.paths() if SHELL.match(files.text(path))]
    if not paths:
        return
    try:
        done = subprocess.run(["shellcheck", "--external-sources", "--format=gcc", *paths], cwd=files.root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        yield f"{paths[0]}:1: shellcheck is missing: apt-get install shellcheck"
        return
    yield from done.stdout.splitlines()
    if done.returncode not in (0, 1):
        yield f"{paths[0]}:1: shellcheck failed: {done.stderr[:200]}"


def check_mutants(files):
    """A mutant whose code has moved is no test any more, and nobody sees it until it is run."""
    for path in files.paths():
        if not path.startswith("tests/mutants/") or not path.endswith(".patch"):
            continue
        done = subprocess.run(
            ["patch", "-p1", "--dry-run", "--silent", "--force", "--input", path],
            cwd=files.root, capture_output=True, text=True, check=False,
        )
        if done.returncode != 0:
            yield f"{path}:1: does not apply any more: {' '.join(done.stdout.split())[:200]}"


ALL = (
    check_licence,
    check_goto,
    check_open_ends,
    check_lengths,
    check_python,
    folders.check_includes,
    folders.check_transport_names,
    folders.check_cycles,
    check_mutants,
    check_shell,
    words.check_labels,
    words.check_continuations,
    words.check_who,
    words.check_columns,
    check_format,
)


def check(files):
    return [violation for rule in ALL for violation in rule(files)]
