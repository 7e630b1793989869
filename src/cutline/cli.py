"""The ``cutline`` program: runs a command, and stops at a signal with one line and nothing left behind.

Only what catches a signal is imported here; everything else is loaded after the handlers are in place.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

_SIGNALS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


def main() -> NoReturn:
    """Run the command line. Exit status: 0 done, 2 bad input, 1 anything else, 128 + its number after a signal."""
    owner = os.getpid()
    known = {getattr(signal, name): word for name, word in _SIGNALS.items() if hasattr(signal, name)}
    caught = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]  # ignored under nohup

    def stop(number: int, _: object) -> None:
        """Stop at once and quietly: an exception would pass through libraries that swallow or report it."""
        if os.getpid() == owner:  # a forked child leaves the files to its parent
            for other in caught:
                signal.signal(other, signal.SIG_IGN)
            # before this module is loaded to its end, no temporary file has been made
            getattr(sys.modules.get(f"{__package__}.runtime"), "remove_temporary", int)()
            os.write(2, f"cutline: {known[signal.Signals(number)]}\n".encode())
        os._exit(128 + number)

    for number in caught:
        signal.signal(number, stop)
    from .commands.group import run

    status = run()
    for number in caught:  # the work is done: a signal while the interpreter takes itself apart changes nothing
        signal.signal(number, signal.SIG_IGN)
    sys.exit(status)
