# SPDX-License-Identifier: BSD-3-Clause
"""One-sided operations of livebtl's ofi transport beside those of libfabric's provider without it."""
import json
import os
import subprocess

from tests.harness.waiting import Failed


def run(build, turns, provider="tcp;ofi_rxm", seconds=600):
    program = os.path.join(build.directory, "bin", "ofi_onesided_bench")
    done = subprocess.run([program, provider, str(turns)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=seconds, check=False)
    if done.returncode != 0:
        raise Failed(f"{program} ended with code {done.returncode}: {done.stderr.strip()[-500:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        line["provider"] = provider
        print(f"  {line['figure']:18} livebtl {line['livebtl']:8} {line['unit']:4}  bare {line['bare']:8}  "
              f"ratio {line['ratio']:.3f}", flush=True)
    return lines
