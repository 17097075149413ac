"""Files of a checkpoint or a sink, on any file system that Spark's Hadoop client knows."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from caesura.checkpoint.storage import File, LocalStorage, Storage


def storage_at(spark: SparkSession, root: str) -> Storage:
    """A local folder is reached directly: a call through the JVM takes as long as the work itself."""
    hadoop: Any = spark._jvm.org.apache.hadoop  # type: ignore[union-attr]
    path = hadoop.fs.Path(root)
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if files.getUri().getScheme() == "file":
        return LocalStorage(str(files.makeQualified(path).toUri().getPath()))
    return HadoopStorage(spark, root.rstrip("/"), files)


class HadoopStorage(Storage):
    def __init__(self, spark: SparkSession, root: str, files: Any) -> None:
        self._root = root
        self._jvm: Any = spark._jvm
        self._files = files

    @property
    def root(self) -> str:
        return self._root

    def _at(self, *parts: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.path(*parts))

    def exists(self, *parts: str) -> bool:
        return bool(self._files.exists(self._at(*parts)))

    def is_file(self, *parts: str) -> bool:
        return self.exists(*parts) and not self._files.getFileStatus(self._at(*parts)).isDirectory()

    def names(self, *parts: str) -> list[str]:
        if not self.exists(*parts):
            return []
        return sorted(status.getPath().getName() for status in self._files.listStatus(self._at(*parts)))

    def read(self, *parts: str) -> bytes:
        stream = self._files.open(self._at(*parts))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, text: str, *parts: str) -> None:
        *folder, name = parts
        temporary = (*folder, f".{name}.tmp")
        self.delete(*temporary)
        self._written(text, *temporary)
        if self.exists(*parts):  # renaming does not replace a file everywhere
            self.delete(*parts)
        self.move(temporary, parts)

    def create(self, text: str, *parts: str) -> bool:
        if self.exists(*parts):
            return False
        try:
            self._written(text, *parts)
        except Py4JJavaError as error:
            if "FileAlreadyExists" in error.java_exception.getClass().getName():
                return False
            raise
        return True

    def _written(self, text: str, *parts: str) -> None:
        """A new file in a folder that is there."""
        create = self._files.createFile(self._at(*parts)).overwrite(False)
        stream = create.build()
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def file(self, *parts: str) -> File | None:
        if not self.is_file(*parts):
            return None
        checksum = self._jvm.java.util.zip.CRC32()
        stream = self._jvm.java.util.zip.CheckedInputStream(self._files.open(self._at(*parts)), checksum)
        try:
            size = self._jvm.org.apache.commons.io.IOUtils.consume(stream)
        finally:
            stream.close()
        return File(parts[-1], int(size), int(checksum.getValue()))

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        if not self._files.rename(self._at(*source), self._at(*target)):
            raise OSError(f"cannot rename {self.path(*source)} to {self.path(*target)}")

    def make(self, *parts: str) -> None:
        self._files.mkdirs(self._at(*parts))

    def delete(self, *parts: str) -> None:
        self._files.delete(self._at(*parts), True)
