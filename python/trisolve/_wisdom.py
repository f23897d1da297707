"""Which solvers were measured to be fastest, for plans with ``measure=True``, in files."""

from __future__ import annotations

import os

from ._library import C, check


def import_wisdom(file: str | os.PathLike[str]) -> None:
    """Add the wisdom of a file that export_wisdom has written to that of this process.

    Raises
    ------
    FileError, FormatError
        The wisdom of the process is unchanged.
    """
    check(C.trs_wisdom_import(os.fsencode(file)))


def export_wisdom(file: str | os.PathLike[str]) -> None:
    """Write all wisdom of this process to a file, and keep what only the file has.

    Examples
    --------
    >>> import os, tempfile, trisolve
    >>> from scipy.sparse import identity
    >>> plan = trisolve.Plan(identity(100, format="csr"), measure=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trisolve.export_wisdom(os.path.join(folder, "wisdom"))
    ...     trisolve.forget_wisdom()
    ...     trisolve.import_wisdom(os.path.join(folder, "wisdom"))
    >>> "wisdom" in trisolve.Plan(identity(100, format="csr")).info.reason
    True
    """
    check(C.trs_wisdom_export(os.fsencode(file)))


def forget_wisdom() -> None:
    """Forget the wisdom of this process; files keep it."""
    C.trs_wisdom_forget()
