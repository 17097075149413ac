#!/bin/sh
# Tests of databases need PostgreSQL and its JDBC driver. Finds them, installs them as root on Debian and Ubuntu, or
# says what to install. No server is started: a test starts its own, in a folder of its own.
set -eu

packages="postgresql libpostgresql-jdbc-java"

enough() {
    [ -e /usr/share/java/postgresql.jar ] && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

install() {
    echo "postgres: installing $packages"
    export DEBIAN_FRONTEND=noninteractive
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

enough && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    install
    enough && exit 0
fi
echo "error: tests of databases need PostgreSQL and its JDBC driver; Debian, Ubuntu: apt-get install $packages" >&2
exit 1
