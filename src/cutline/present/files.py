"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A path beside ``path`` to write to, renamed to it at the end; where that is not reached, nothing is left."""
    goal = Path(path)
    handle, beside = tempfile.mkstemp(prefix=f".{goal.name}.", suffix=goal.suffix, dir=goal.parent)
    os.close(handle)
    try:
        yield Path(beside)
        # mkstemp makes files only their owner can read; a result gets the rights any new file would have.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, goal)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
