"""An object store that other people wrote: Ceph, whose radosgw answers as S3 does, on this machine."""
