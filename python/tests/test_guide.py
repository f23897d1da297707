"""The commands of doc/guide.md that need Python print what the guide says; those of a GPU where there is one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests/package/guide.sh"


@pytest.mark.skipif("TRS_BINDIR" not in os.environ or not SCRIPT.exists(), reason="TRS_BINDIR names no build")
def test_guide():
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    run = subprocess.run(["sh", SCRIPT], env=dict(os.environ, TRS_SRCDIR=str(ROOT), PATH=path), check=True,
                         capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert not [line for line in lines if line.startswith("not ok")], run.stdout
    assert [line for line in lines if line.startswith("ok") and line.endswith("python3 precondition.py")], run.stdout
