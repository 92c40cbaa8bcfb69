"""`python -m tests.conformance.s3.install`: installs Ceph's programs, if absent. They are packages of Debian."""

from tests.conformance.webdav.install import install

PROGRAMS = {"ceph": "ceph-common", "ceph-mon": "ceph-mon", "ceph-osd": "ceph-osd", "radosgw": "radosgw"}

if __name__ == "__main__":
    install(PROGRAMS)
