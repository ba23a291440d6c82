# SPDX-License-Identifier: BSD-3-Clause
"""Test programs that run on a guest's Soft-RoCE device: conformance of verbs and ofi, unit tests of verbs."""
import re

from tests.harness.scenario import scenario
from tests.harness.waiting import check

# libfabric over a device with short queues: shared buffers (docs/TRANSPORTS.md), no registration cache.
OFI_OVER_RXE = ("LIVEBTL_OFI_PROVIDER='verbs;ofi_rxm' LIVEBTL_HIDE_DEVICES=off FI_OFI_RXM_USE_SRX=1 FI_UNIVERSE_SIZE=64 "
                "FI_OFI_RXM_MSG_TX_SIZE=64 FI_OFI_RXM_MSG_RX_SIZE=64 FI_MR_CACHE_MAX_COUNT=0")


UNIT_TESTS = ("verbs_device_test", "verbs_pure_test", "verbs_transport_test", "verbs_engine_test")


def _passes(guest, program, seconds, settings=""):
    """Returns the line that counts its assertions. A test that checked nothing, or left out a part, has not passed."""
    code, output, errors = guest.run(f"{settings} /opt/livebtl/bin/{program}", seconds)
    left_out = re.search("skipped: |not checked: ", output)
    check(code == 0 and not left_out and "Status: SUCCESS" in output, f"{program}: code {code}: {(output + errors).strip()[-600:]}")
    return next(line for line in output.splitlines() if "assertions" in line)


@scenario("verbs-conforms")
def conforms(context):
    """The conformance suite of transports, on a real device (Soft-RoCE)."""
    with context.lab(1) as lab:
        return _passes(lab.guests[0], "conformance_verbs_device", 300)


@scenario("verbs-unit-tests")
def unit_tests_pass(context):
    """The unit tests of verbs in a guest: release and refusals on the real device, and those on devices in memory."""
    with context.lab(1) as lab:
        lab.guests[0].output("chmod 600 /dev/infiniband/uverbs*")  # so that only root may open it
        said = [f"{name}: {_passes(lab.guests[0], name, 600).split('|')[1].strip()}" for name in UNIT_TESTS]
        check(not lab.guests[0].holders(), f"the device is held by {lab.guests[0].holders()}")
    return "assertions in " + ", ".join(said)


@scenario("ofi-conforms")
def ofi_conforms(context):
    """The same suite on ofi, with its one-sided operations, over libfabric's verbs provider: memory is registered with a device."""
    with context.lab(1) as lab:
        return _passes(lab.guests[0], "conformance_ofi_device", 600, OFI_OVER_RXE)
