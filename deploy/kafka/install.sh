#!/usr/bin/env bash
# The broker's jars into .kafka/libs, each with the checksum of jars.sha256. Does nothing twice.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=$(cd "$here/../.." && pwd)/.kafka
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

have_java() { command -v java >/dev/null && [ "$(java_version)" -ge 17 ]; }
java_version() {
  java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1 | grep . || echo 0
}
have_tools() { have_java && command -v mvn >/dev/null; }

need_tools() {
  if ! have_tools && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq >&2
    echo "installing $(java_package) and maven for the Kafka broker of the tests" >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$(java_package)" maven >&2
  fi
  have_tools || { echo "the Kafka broker of the tests needs Java 17 or newer and Maven: install both (Debian: apt-get install default-jre-headless maven) and run this again" >&2; exit 2; }
}

# The oldest Java from 17 on that apt offers: Debian 12 has 17 alone, Debian 13 has 21 and newer.
java_package() {
  local version
  version=$(apt-cache pkgnames openjdk- | sed -n 's/^openjdk-\([0-9]*\)-jre-headless$/\1/p' |
    sort -n | awk '$1 >= 17 {print $1; exit}')
  echo "${version:+openjdk-$version-jre-headless}" | grep . || echo default-jre-headless
}

# Names as well as contents: a jar that is not on the list would be on the broker's class path.
sound() {
  (cd "$1" && sha256sum --check --quiet --strict "$here/jars.sha256" >&2) &&
    diff <(awk '{print $2}' "$here/jars.sha256" | LC_ALL=C sort) <(cd "$1" && ls | LC_ALL=C sort) >&2
}

# The mark is the list itself: a new list or a cut-short copy makes the jars anew.
if cmp -s "$here/jars.sha256" "$target/jars.ok" && command -v java >/dev/null; then exit 0; fi

need_tools
mkdir -p "$target"
fresh=$(mktemp -d "$target/libs.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
echo "fetching the Kafka broker of the tests (once, about 55 MB)" >&2
mvn -q -B -f "$here/pom.xml" "$plugin:copy-dependencies" \
  -DoutputDirectory="$fresh" -DincludeScope=runtime >&2
if ! sound "$fresh"; then
  echo "the jars above are not those of deploy/kafka/jars.sha256: not used" >&2
  exit 1
fi
rm -rf "$target/libs" "$target/jars.ok"
mv "$fresh" "$target/libs"
cp "$here/jars.sha256" "$target/jars.ok"
