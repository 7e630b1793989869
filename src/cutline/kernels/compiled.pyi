"""The compiled passes take arrays and numbers; compiled.pyx has their signatures, and checks what it is given."""

from typing import Any

def __getattr__(name: str) -> Any: ...
