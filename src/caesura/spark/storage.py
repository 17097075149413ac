"""Files of a checkpoint or a sink, on any file system that Spark's Hadoop client knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from caesura.checkpoint.storage import File, LocalStorage, Storage
from caesura.operators.java import java
from caesura.spark.reasons import SPARK_ERRORS, reason

_PATH = "org.apache.hadoop.fs.Path"


def make_ready(storage: Storage, *folder: str) -> None:
    """For Spark to write to, which would make the same folders: on a local disk Hadoop starts a process for each,
    to set its mode (decision 0015)."""
    if isinstance(storage, LocalStorage):
        storage.make(*folder, "_temporary", "0", "_temporary")


def row_counts(spark: SparkSession, paths: Iterable[str]) -> list[int]:
    """Of files of Parquet, which say it at their ends."""
    readers = java(spark, "org.apache.parquet.hadoop.ParquetFileReader")
    inputs = java(spark, "org.apache.parquet.hadoop.util.HadoopInputFile")
    path = java(spark, _PATH)
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    found: list[int] = []
    for each in paths:
        file = readers.open(inputs.fromPath(path(each), configuration))
        try:
            found.append(int(file.getRecordCount()))
        finally:
            file.close()
    return found


def storage_at(spark: SparkSession, root: str) -> Storage:
    """A local folder is reached directly: a call through the JVM takes as long as the work itself. `OSError` of
    what no file system is known for."""
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    try:
        path = java(spark, _PATH)(root)
        files = path.getFileSystem(configuration)
    except SPARK_ERRORS as error:
        raise OSError(reason(error)) from error
    default = java(spark, "org.apache.hadoop.fs.FileSystem").getDefaultUri(configuration).getScheme()
    if files.getUri().getScheme() == "file" == default:  # else Spark would look for the bare path elsewhere
        return LocalStorage(str(files.makeQualified(path).toUri().getPath()))
    return HadoopStorage(spark, root.rstrip("/"), files)


def _kind(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getSimpleName())


P = ParamSpec("P")
R = TypeVar("R")


def _as_os_error(do: Callable[P, R]) -> Callable[P, R]:
    """What goes wrong with files is said as Python says it."""

    @wraps(do)
    def done(*given: P.args, **named: P.kwargs) -> R:
        try:
            return do(*given, **named)
        except Py4JJavaError as error:
            kind = FileNotFoundError if _kind(error) == "FileNotFoundException" else OSError
            raise kind(reason(error)) from error

    return done


class HadoopStorage(Storage):
    def __init__(self, spark: SparkSession, root: str, files: Any) -> None:
        self._root = root
        self._spark = spark
        self._path = java(spark, _PATH)
        self._gateway: Any = spark.sparkContext._gateway
        self._files = files

    @property
    def root(self) -> str:
        return self._root

    def _at(self, *parts: str) -> Any:
        return self._path(self.path(*parts))

    @_as_os_error
    def exists(self, *parts: str) -> bool:
        return bool(self._files.exists(self._at(*parts)))

    @_as_os_error
    def is_file(self, *parts: str) -> bool:
        return self.exists(*parts) and not self._files.getFileStatus(self._at(*parts)).isDirectory()

    @_as_os_error
    def names(self, *parts: str) -> list[str]:
        if not self.exists(*parts):
            return []
        return sorted(status.getPath().getName() for status in self._files.listStatus(self._at(*parts)))

    @_as_os_error
    def read(self, *parts: str) -> bytes:
        stream = self._files.open(self._at(*parts))
        try:
            return bytes(java(self._spark, "org.apache.commons.io.IOUtils").toByteArray(stream))
        finally:
            stream.close()

    @_as_os_error
    def write(self, text: str, *parts: str) -> None:
        *folder, name = parts
        temporary = (*folder, f".{name}.tmp")
        self.delete(*temporary)
        self._written(text, *temporary)
        self._replace(temporary, parts)

    @_as_os_error
    def create(self, text: str, *parts: str) -> bool:
        if self.exists(*parts):
            return False
        try:
            self._written(text, *parts)
        except Py4JJavaError as error:
            if _kind(error) in ("FileAlreadyExistsException", "AlreadyBeingCreatedException"):
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

    @_as_os_error
    def file(self, *parts: str) -> File | None:
        if not self.is_file(*parts):
            return None
        checksum = java(self._spark, "java.util.zip.CRC32")()
        checked = java(self._spark, "java.util.zip.CheckedInputStream")
        stream = checked(self._files.open(self._at(*parts)), checksum)
        try:
            size = java(self._spark, "org.apache.commons.io.IOUtils").consume(stream)
        finally:
            stream.close()
        return File(parts[-1], int(size), int(checksum.getValue()))

    @_as_os_error
    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        if not self._files.rename(self._at(*source), self._at(*target)):
            raise OSError(f"cannot rename {self.path(*source)} to {self.path(*target)}")

    def _replace(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        """Move a file to where there may be another. `FileSystem` has no rename that replaces one everywhere."""
        there = self._at(*target)
        contexts = java(self._spark, "org.apache.hadoop.fs.FileContext")
        context = contexts.getFileContext(there.toUri(), self._files.getConf())
        rename = java(self._spark, "org.apache.hadoop.fs.Options$Rename")
        options = self._gateway.new_array(rename, 1)
        options[0] = rename.OVERWRITE
        context.rename(self._at(*source), there, options)

    @_as_os_error
    def make(self, *parts: str) -> None:
        self._files.mkdirs(self._at(*parts))

    @_as_os_error
    def delete(self, *parts: str) -> None:
        self._files.delete(self._at(*parts), True)
