"""Small files and directories of a checkpoint, on any file system that Spark's Hadoop client knows."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


class Storage:
    """Paths below one root. Writing a file is atomic: it is there whole or not at all."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.root = root.rstrip("/")
        self._hadoop: Any = spark._jvm.org.apache.hadoop  # type: ignore[union-attr]
        self._io: Any = spark._jvm.org.apache.commons.io.IOUtils  # type: ignore[union-attr]
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        self._files: Any = self._hadoop.fs.Path(self.root).getFileSystem(configuration)

    @property
    def local(self) -> bool:
        return bool(self._files.getUri().getScheme() == "file")

    def path(self, *parts: str) -> str:
        return "/".join((self.root, *parts))

    def _at(self, *parts: str) -> Any:
        return self._hadoop.fs.Path(self.path(*parts))

    def exists(self, *parts: str) -> bool:
        return bool(self._files.exists(self._at(*parts)))

    def is_file(self) -> bool:
        return self.exists() and not self._files.getFileStatus(self._at()).isDirectory()

    def names(self, *parts: str) -> list[str]:
        """What a directory holds, sorted; nothing if it does not exist."""
        if not self.exists(*parts):
            return []
        return sorted(status.getPath().getName() for status in self._files.listStatus(self._at(*parts)))

    def read(self, *parts: str) -> str:
        stream = self._files.open(self._at(*parts))
        try:
            return str(self._io.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, text: str, *parts: str) -> None:
        *folder, name = parts
        temporary = (*folder, f".{name}.tmp")
        stream = self._files.create(self._at(*temporary), True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()
        self.move(temporary, parts)

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        if not self._files.rename(self._at(*source), self._at(*target)):
            raise OSError(f"cannot rename {self.path(*source)} to {self.path(*target)}")

    def make(self, *parts: str) -> None:
        self._files.mkdirs(self._at(*parts))

    def delete(self, *parts: str) -> None:
        self._files.delete(self._at(*parts), True)
