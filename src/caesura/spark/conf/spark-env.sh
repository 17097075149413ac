# Spark's launch scripts source this file. The JVM itself, before any logging, warns on stderr about a module
# that Spark always adds. No option turns that off, so this one line is taken out; all else passes.
set +o posix
exec 2> >(exec grep --line-buffered -v '^WARNING: Using incubator modules: jdk.incubator.vector$' >&2)
