#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A file system that shows a folder's files, and answers nothing from the time on that the folder has one called `hang`.

    hanging_files.py FOLDER MOUNTPOINT

Until it is ended, or the mount is taken away (umount -l), who asks it for anything waits in the kernel, as on an NFS server that is gone.
"""
import os
import sys
import time

import fusepy


class HangingFiles(fusepy.Operations):
    def __init__(self, folder):
        self.folder = folder

    def __call__(self, operation, *args):
        while os.path.exists(self.folder + "/hang"):
            time.sleep(0.1)
        if not hasattr(self, operation):
            raise fusepy.FuseOSError(fusepy.ENOTSUP)
        return getattr(self, operation)(*args)

    def getattr(self, path, fh=None):
        try:
            stat = os.lstat(self.folder + path)
        except OSError as error:
            raise fusepy.FuseOSError(error.errno)
        return {name: getattr(stat, name) for name in ("st_mode", "st_size", "st_nlink", "st_uid", "st_gid", "st_mtime")}

    def open(self, path, flags):
        return os.open(self.folder + path, os.O_RDONLY)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def release(self, path, fh):
        os.close(fh)


fusepy.FUSE(HangingFiles(sys.argv[1]), sys.argv[2], foreground=True, allow_other=True, entry_timeout=0, attr_timeout=0)
