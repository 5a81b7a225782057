# Copyright The developers of Strider.
# SPDX-License-Identifier: Apache-2.0

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before Spack 1.0 it is part of spack.package
    pass


class Strider(CMakePackage):
    """Measures parallel file systems: which bytes, in what operation, through
    which interface, by how many clients."""

    # There is no public archive: put strider-VERSION.tar.gz in the current directory, or use
    # `spack dev-build strider@VERSION` in a checkout.
    manual_download = True
    url = f"file://{os.getcwd()}/strider-0.2.0.tar.gz"

    license("Apache-2.0")

    version("0.2.0")

    variant("uring", default=True, description="Build the interface uring (io_uring)")
    variant("hdf5", default=False, description="Build the interface hdf5 (parallel HDF5)")
    variant("pnetcdf", default=False, description="Build the interface pnetcdf (PnetCDF)")
    variant("listio", default=True, description="Build the interface listio and its servers")
    variant("nfs", default=False, description="Build the interface nfs (libnfs)")
    variant("gfapi", default=False, description="Build the interface gfapi (GlusterFS)")
    variant("xrootd", default=False, description="Build the interface xrootd (XRootD)")
    variant("ofi", default=False, description="Build the transport of list I/O over libfabric")
    variant("fuse", default=False, description="Build the mount of list-I/O volumes")
    variant(
        "packages",
        default=True,
        description="Install the Python packages of constraints.txt in the prefix, by pip",
    )

    generator("ninja")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("mpi")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-pip", type="build", when="+packages")
    depends_on("liburing@2.3:", when="+uring")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("parallel-netcdf", when="+pnetcdf")
    depends_on("openssl@3:", when="+listio")
    depends_on("libnfs", when="+nfs")
    depends_on("glusterfs", when="+gfapi")
    depends_on("xrootd", when="+xrootd")
    depends_on("libfabric", when="+ofi")
    depends_on("libfuse@3:", when="+fuse")

    conflicts("+ofi", when="~listio")
    conflicts("+fuse", when="~listio")
    conflicts("%gcc@:11", msg="Strider needs C++20: gcc 12 or newer")

    build_targets = ["strider-engine"]

    def cmake_args(self):
        return [
            self.define("STRIDER_MODULES", False),  # none but those that are named here
            self.define_from_variant("STRIDER_WITH_URING", "uring"),
            self.define_from_variant("STRIDER_WITH_HDF5", "hdf5"),
            self.define_from_variant("STRIDER_WITH_PNETCDF", "pnetcdf"),
            self.define_from_variant("STRIDER_WITH_LISTIO", "listio"),
            self.define_from_variant("STRIDER_WITH_NFS", "nfs"),
            self.define_from_variant("STRIDER_WITH_GFAPI", "gfapi"),
            self.define_from_variant("STRIDER_WITH_XROOTD", "xrootd"),
            self.define_from_variant("STRIDER_WITH_OFI", "ofi"),
            self.define_from_variant("STRIDER_WITH_FUSE", "fuse"),
            # Spack has no packages of these.
            self.define("STRIDER_WITH_CEPHFS", False),
            self.define("STRIDER_WITH_PVFS2", False),
            self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx),
        ]

    def install(self, spec, prefix):
        python = spec["python"].command
        words = [self.build_directory, prefix, "--python", python.path]
        if spec.satisfies("~packages"):
            words.append("--no-packages")
        with working_dir(self.stage.source_path):
            python("packaging/install_prefix.py", *words)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_version(self):
        Executable(self.prefix.bin.strider)("--version")
