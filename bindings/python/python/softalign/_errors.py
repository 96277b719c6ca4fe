"""Exceptions of the package. Their messages are the lines that the command prints."""


class Error(Exception):
    """Base class of the package's exceptions."""


class ArgumentError(Error, ValueError):
    """An argument is out of range, or arguments contradict each other or the data."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or directory does not exist."""
