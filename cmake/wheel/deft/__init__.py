"""Starts the program of this package. auditwheel changes the library paths of programs in packages, and not of scripts."""

import os
import sys
from pathlib import Path


def main():
    program = str(Path(__file__).resolve().parent / "bin" / "deft")
    os.execv(program, [program, *sys.argv[1:]])
