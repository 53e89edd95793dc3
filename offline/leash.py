"""Runs a command that ends with whoever started it, even when that one is killed.

Whoever starts this holds the other end of its standard input. When that end closes, for whatever reason, the
command is asked to stop, then made to, and what it left running in its process group, of which this is the
leader, goes with it. Standard library only, run by path.
"""

import os
import signal
import subprocess
import sys
import threading

PATIENCE_SECONDS = 15


def stop(command: "subprocess.Popen[bytes]") -> None:
    """Ask *command* to stop; make it when it does not."""
    command.terminate()
    try:
        command.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        command.kill()


def main() -> int:
    """Run the command of the arguments on a leash; return its exit code."""
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def hold() -> None:
        sys.stdin.buffer.read()
        stop(command)

    threading.Thread(target=hold, daemon=True).start()
    code = command.wait()
    if os.getpgrp() == os.getpid():
        # Only a group that is ours: started otherwise, this would be our starter's.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
    return code


if __name__ == "__main__":
    sys.exit(main())
