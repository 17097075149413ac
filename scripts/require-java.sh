#!/bin/sh
# Spark needs Java 17 or newer. Finds it, installs it as root on Debian and Ubuntu, or says what to install.
set -eu

needed=17

# The major version of the Java that Spark would start, as Spark chooses it: JAVA_HOME first, then the PATH.
found() {
    if [ -n "${JAVA_HOME:-}" ]; then
        java=$JAVA_HOME/bin/java
    else
        java=java
    fi
    "$java" -version 2>&1 | sed -n 's/.*version "\([0-9][0-9]*\).*/\1/p' | head -n 1
}

enough() {
    version=$(found)
    [ "${version:-0}" -ge "$needed" ]
}

install() {
    echo "java: installing openjdk-$needed-jre-headless, or newer"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    for package in "openjdk-$needed-jre-headless" default-jre-headless; do
        if apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1; then
            return
        fi
    done
}

explain() {
    if [ -n "${JAVA_HOME:-}" ]; then
        where="JAVA_HOME is $JAVA_HOME"
    else
        where="the first on the PATH, since JAVA_HOME is not set"
    fi
    {
        if [ -n "$version" ]; then
            echo "error: Spark needs Java $needed or newer; this one is $version ($where)"
        elif [ -n "${JAVA_HOME:-}" ]; then
            echo "error: Spark needs Java $needed or newer; there is none ($where)"
        else
            echo "error: Spark needs Java $needed or newer; there is none"
        fi
        echo "  Debian, Ubuntu: apt-get install openjdk-$needed-jre-headless   (or newer: default-jre-headless)"
        echo "  macOS:          brew install openjdk@$needed   (then set JAVA_HOME to \$(brew --prefix openjdk@$needed))"
        echo "  elsewhere:      any JDK or JRE of version $needed or newer, on the PATH or in JAVA_HOME"
    } >&2
}

if enough; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    install
    if enough; then
        exit 0
    fi
fi
explain
exit 1
