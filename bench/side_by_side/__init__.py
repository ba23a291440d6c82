# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench: livebtl beside Open MPI's own transports and UCX, measured in turns."""
