# SPDX-License-Identifier: BSD-3-Clause
"""Each rule against a small tree that breaks it, and all rules against one that breaks none."""
import json
import os
import shutil
import tempfile

from lintlib import folders, ratchet, rules, sizes, tree, words

HEAD = "// " + rules.LICENCE + "\n"


def _source(body=""):
    return HEAD + body


def _function(lines):
    """A function of so many lines in all."""
    return "void long_one() {\n" + "  call();\n" * (lines - 2) + "}\n"


# (rule, files, part of the line that must be reported)
BROKEN = [
    (rules.check_licence, {"base/a.cc": "int a;\n"}, "base/a.cc:1: the first line"),
    (rules.check_licence, {"scripts/x": "#!/bin/sh\necho\n"}, "scripts/x:1:"),
    (rules.check_goto, {"base/a.cc": _source("void f() { goto out; }\n")}, "base/a.cc:2: goto"),
    (rules.check_open_ends, {"base/a.cc": _source("// TODO: later\n")}, "base/a.cc:2: TODO"),
    (rules.check_open_ends, {"docs/a.md": "one FIXME: two\n"}, "docs/a.md:1: FIXME"),
    (rules.check_lengths, {"base/a.cc": _source("int a;\n" * 500)}, "501 lines"),
    (rules.check_lengths, {"base/a.cc": _source(_function(71))}, "long_one has 71 lines"),
    (rules.check_lengths, {"base/a.cc": _source("namespace n {\nstruct S {\n" + _function(71) + "};\n}\n")}, "base/a.cc:4: long_one has 71"),
    (rules.check_lengths, {"base/a.cc": _source("S::S()\n    : a_{1}, b_(2) {\n" + "  f();\n" * 70 + "}\n")}, "lines; a function has"),
    (rules.check_lengths, {"tests/a.cc": _source('TEST_CASE("x {") {\n' + "  f('{');\n" * 70 + "}\n")}, "TEST_CASE has 72"),
    (rules.check_lengths, {"scripts/a.py": "def f():\n" + "    pass\n" * 70}, "f has 71 lines"),
    (rules.check_python, {"scripts/a.py": "def f(:\n"}, "scripts/a.py:1:"),
    (rules.check_format, {"base/a.cc": _source("int   a ;\n")}, "base/a.cc:2: not clang-formatted"),
    (rules.check_shell, {"scripts/a": "#!/bin/sh\necho $1\n"}, "scripts/a:2:6: note: Double quote"),
    (
        rules.check_mutants,
        {"base/a.cc": HEAD, "tests/mutants/a.patch": "--- a/base/a.cc\n+++ b/base/a.cc\n@@ -1,1 +1,1 @@\n-nothing of it\n+else\n"},
        "does not apply any more",
    ),
    (words.check_labels, {"base/a.cc": _source("// Takes the bytes of the Errors: kInvalid.\n")}, "base/a.cc:2: 'Errors:' begins"),
    (words.check_labels, {"base/a.cc": _source("int a;  // It ends. Threads:  any.\n")}, "base/a.cc:2: 'Threads:' begins"),
    (words.check_labels, {"scripts/a.py": "a = 1  # one of two usage: a [b]\n"}, "scripts/a.py:1: 'usage:' begins"),
    (words.check_continuations, {"base/a.h": _source("// Threads: any, but\n// not\n//          this.\n")}, "base/a.h:4: continues no line"),
    (words.check_who, {"base/a.cc": _source("// Who asks is told.\n")}, "base/a.cc:2: 'Who asks is told.' is no subject"),
    (words.check_who, {"base/a.cc": _source("// base/a.cc -- whoever asks: told.\n")}, "base/a.cc:2: 'whoever asks"),
    (words.check_who, {"base/a.cc": _source("int a;  // It\n// is there. Who\n// asks is told.\n")}, "base/a.cc:3: 'Who asks"),
    (words.check_who, {"scripts/a.py": 'def f():\n    """Whoever asks is told."""\n'}, "scripts/a.py:2: 'Whoever asks"),
    (words.check_who, {"scripts/a": "#!/bin/sh\n# Who asks is told.\n"}, "scripts/a:2: 'Who asks"),
    (words.check_columns, {"docs/a.md": "word " * 25 + "\n"}, "docs/a.md:1: 125 columns"),
    (folders.check_transport_names, {"core/lane/a.cc": _source('auto a = f("tcp");\n')}, 'the transport "tcp"'),
    (folders.check_includes, {"core/lane/a.cc": _source("#include <zmq.h>\n")}, "includes zmq.h, which belongs"),
    (folders.check_includes, {"ctl-tool/a.cc": _source("#include <zmq.hpp>\n")}, "zmq.hpp"),
    (folders.check_includes, {"core/lane/a.cc": _source("#include <rdma/fabric.h>\n")}, "rdma/fabric.h"),
    (folders.check_includes, {"transports/tcp/a.cc": _source("#include <infiniband/verbs.h>\n")}, "infiniband"),
    (folders.check_includes, {"runtime/a.cc": _source("#include <mpi.h>\n")}, "mpi.h"),
    (folders.check_includes, {"provider/a.cc": _source("#include <ompi/request/request.h>\n")}, "ompi/request"),
    (folders.check_includes, {"bench/a.cc": _source("#include <opal_config.h>\n")}, "opal_config.h"),
    (folders.check_includes, {"base/a.cc": _source('#include "nowhere.h"\n')}, "no file of the project"),
    (folders.check_includes, {"newfolder/a.cc": _source('#include "base/b.h"\n'), "base/b.h": HEAD}, "has no rule"),
]
# Forbidden includes: (includer, included).
FORBIDDEN = [
    ("base/a.cc", "core/b.h"),
    ("core/bml/a.cc", "transports/tcp/b.h"),
    ("core/bml/a.cc", "control/wire/b.h"),
    ("core/lane/a.cc", "core/bml/b.h"),
    ("core/lane/a.cc", "core/engine/core.h"),
    ("core/path/a.cc", "core/lane/b.h"),
    ("core/switch/a.h", "core/bml/b.h"),
    ("core/bml/a.cc", "core/engine/core.h"),
    ("transports/tcp/a.cc", "transports/sm/b.h"),
    ("transports/tcp/a.cc", "core/lane/window.h"),
    ("transports/tcp/a.cc", "transports/builtin.h"),
    ("control/ladder/a.cc", "transports/interface/transport.h"),
    ("control/ladder/a.cc", "transports/builtin.h"),
    ("control/ladder/a.cc", "control/wire/b.h"),
    ("control/client/a.cc", "control/agent/b.h"),
    ("control/place/a.cc", "core/bml/bml.h"),
    ("transports/interface/a.h", "transports/messages/b.h"),
    ("hypervisor/qmp/a.cc", "hypervisor/plan/b.h"),
    ("hypervisor/plan/a.cc", "hypervisor/qmp/b.h"),
    ("hypervisor/libvirt/a.cc", "hypervisor/qmp/b.h"),
    ("hypervisor/set/a.cc", "hypervisor/snapshot/b.h"),
    ("ctl-tool/a.cc", "control/agent/agent.h"),
    ("ctl-tool/a.cc", "core/engine/admin.h"),
    ("provider/a.cc", "core/lane/frame.h"),
    ("include/livebtl/a.h", "base/log.h"),
    ("examples/a.cc", "base/log.h"),
    ("runtime/a.cc", "tests/b.h"),
    ("runtime/a.cc", "provider/b.h"),
]
CIRCLES = [
    {"base/a.h": '#include "base/b.h"\n', "base/b.h": '#include "base/a.h"\n'},
    {"runtime/a.h": '#include "control/wire/b.h"\n', "control/wire/b.h": '#include "runtime/c.h"\n', "runtime/c.h": ""},
]
CLEAN = {
    "include/livebtl/a.h": _source("#pragma once\n"),
    "base/b.h": _source("#pragma once\n#include <livebtl/a.h>\n"),
    "transports/interface/transport.h": _source("#pragma once\n"),
    "core/engine/admin.h": _source("#pragma once\n"),
    "core/lane/c.cc": _source(
        '#include "c.h"\n\n#include "base/b.h"\n// goto "tcp" is a comment. TODO(#12): named; no TODO here\n'
        'const char* text = "goto sm by tcp";\nint thousand = 1\'000;\n'
    ),
    "core/lane/c.h": _source("#pragma once\n"),
    "transports/tcp/d.h": _source('#pragma once\n#include "transports/interface/transport.h"\n'),
    "transports/builtin.cc": _source('#include "transports/tcp/d.h"\nconst char* name = "tcp";\n'),
    "control/wire/e.cc": _source('#include <zmq.h>\n\n#include "core/engine/admin.h"\n'),
    "tests/f.cc": _source('#include <zmq.h>\n\n#include "core/lane/c.h"\n'),
    "provider/g.cc": _source("#include <livebtl/a.h>\n#include <rdma/fabric.h>\n"),
    "ompi/h.cc": _source("#include <ompi/request/request.h>\n"),
    "scripts/tool": "#!/bin/sh\n# " + rules.LICENCE + "\n",
    "base/words.cc": _source(
        "// base/words.cc -- a pair of both. Threads: any.\n//\n// Errors:  none, unlike\n//          this one.\n"
        "int in = 0;  // Who may ask, and what?\n// Those who ask: \"Who is there?\" Loss: in order. Who\n// is asked?\n"
    ),
    "docs/words.md": "| " + "a row " * 30 + "|\nhttps://" + "a" * 130 + "\n",
    "base/limits.cc": _source("void call();\n" + _function(70) + "int a;\n" * (500 - 72)),
}


def _in_folder(texts, run):
    """Calls run(tree) with the files on disk, as clang-format reads them there."""
    root = tempfile.mkdtemp()
    try:
        for path, text in texts.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(root, ".clang-format"), "w", encoding="utf-8") as file:
            file.write("BasedOnStyle: Google\nColumnLimit: 100\n")
        return run(tree.Tree(root, texts))
    finally:
        shutil.rmtree(root)


def _ratchet_failures():
    files = tree.Tree("", {"base/a.cc": _source(_function(40))})
    counted = sizes.counts(files)
    if counted["product"]["functions_over_30"] != 1:
        yield f"the ratchet counts {counted}"
    stricter = {kind: dict(values) for kind, values in counted.items()}
    stricter["product"]["longest_function"] = 39
    for held, expected in ((counted, 0), (stricter, 1), ({}, 8)):
        found = ratchet.check(tree.Tree("", {"base/a.cc": files.text("base/a.cc"), ratchet.NAME: json.dumps(held)}))
        if len(found) != expected:
            yield f"the ratchet reports {found} for {held}"
    if ratchet.lowered(stricter, counted)["product"]["longest_function"] != 39:
        yield "--update raises a count"


def _failures():
    for rule, texts, expected in BROKEN:
        found = _in_folder(texts, lambda files, rule=rule: list(rule(files)))
        if len(found) != 1 or expected not in found[0]:
            yield f"{rule.__name__} on {list(texts)} should report '{expected}', reports {found}"
    for includer, included in FORBIDDEN:
        name = included.removeprefix("include/")
        files = tree.Tree("", {includer: _source(f'#include "{name}"\n'), included: HEAD})
        if len(list(folders.check_includes(files))) != 1:
            yield f"{includer} may include {included}"
    for texts in CIRCLES:
        if not list(folders.check_cycles(tree.Tree("", texts))):
            yield f"a circle is not seen in {texts}"
    found = _in_folder(CLEAN, rules.check)
    if found:
        yield f"a tree that keeps the rules is reported: {found}"
    yield from _ratchet_failures()


def run():
    failures = list(_failures())
    for failure in failures:
        print("self-test:", failure)
    print(f"lint self-test: {len(BROKEN) + len(FORBIDDEN) + len(CIRCLES)} broken trees, {len(failures)} failures")
    return 1 if failures else 0
