# SPDX-License-Identifier: BSD-3-Clause
"""packaging/spack/package.py -- a recipe for Spack. TEXT: it was never run."""
from spack.package import CMakePackage, depends_on, generator, license, variant, version


class Livebtl(CMakePackage):
    """Changes the network under a running MPI job: no message is lost, repeated or reordered."""

    git = "https://livebtl.invalid/livebtl.git"
    license("BSD-3-Clause")
    version("main", branch="main")

    variant("ompi", default=False, description="Build the component of Open MPI, which needs its internal headers")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("scdoc", type="build")
    depends_on("libfabric@1.17:2")
    depends_on("rdma-core")
    depends_on("libzmq")
    depends_on("cppzmq")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("tl-expected")
    depends_on("libsodium")
    depends_on("isa-l")
    depends_on("inih")
    depends_on("libvirt", type="build")
    depends_on("pmix", type="build")
    depends_on("protobuf")
    depends_on("pugixml")
    depends_on("rapidjson", type="build")
    depends_on("openmpi@4.1:5.0", when="+ompi")

    generator("ninja")

    def cmake_args(self):
        return [self.define("LIVEBTL_TESTS", False), self.define("LIVEBTL_OMPI", "ON" if "+ompi" in self.spec else "OFF"),
                self.define("LIVEBTL_WATCHD", "OFF"), self.define("LIVEBTL_EXPORTER", "OFF"), self.define("LIVEBTL_KUBEVIRT", "OFF")]

    def setup_run_environment(self, env):
        env.prepend_path("FI_PROVIDER_PATH", self.prefix.lib.libfabric)
