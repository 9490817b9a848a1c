"""Plugins of the build tree in a folder from which they may be loaded, as /tmp is none."""

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

PLUGINS = Path(os.environ["EDDY_BIN"]).parent / "plugins"
_HEADER = Path(__file__).resolve().parents[2] / "lb" / "schemes" / "plugin.h"
# What is said of other_abi (tests/plugins/refused.cpp).
OTHER_ABI = f"plugin ABI {int(re.search(r'kPluginAbi = ([0-9]+);', _HEADER.read_text(encoding='utf-8'))[1]) + 41}, "


def is_safe(folder):
    """Whether nobody but root and this user can write to the folder or to one above it."""
    for each in (folder, *folder.parents):
        seen = each.stat()
        if seen.st_uid not in (0, os.geteuid()) or seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
    return True


def trusted_folder(test, bases=(PLUGINS.parent, Path.home(), Path("/var/lib"), Path("/run"))):
    """A new one, removed with the test or the class of tests."""
    clean = test.addClassCleanup if isinstance(test, type) else test.addCleanup
    for base in bases:
        if not (base.is_dir() and os.access(base, os.W_OK)) or not is_safe(base.resolve()):
            continue
        folder = tempfile.TemporaryDirectory(prefix="eddy-plugins-", dir=base.resolve())
        clean(folder.cleanup)
        Path(folder.name).chmod(0o755)
        return Path(folder.name)
    raise AssertionError("no folder that only its user writes to, here or in /var/lib")


def put(name, folder):
    """The plugin of tests/plugins in the folder."""
    path = folder / f"{name}.so"
    shutil.copyfile(PLUGINS / path.name, path)
    path.chmod(0o755)
    return path
