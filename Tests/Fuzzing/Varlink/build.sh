#!/bin/sh
# Builds SCRATCH/varlink-fuzzer out of the sources of the service and of all it imports, as one
# module, so that each of them is instrumented. What one module imports of another is then its own.
set -eu
scratch=${1:?usage: build.sh SCRATCH}
cd "$(dirname "$0")/../../.."
modules='TimingWheel JSON Countdowns Varlink ControlInterface CountdownService'
names=$(echo "$modules" | sed 's/ /|/g')
rm -rf "$scratch/sources"
mkdir -p "$scratch/sources"
for module in $modules; do
  for file in "Sources/$module"/*.swift; do
    sed -E "/^(package |internal )?import ($names)$/d" "$file" \
      > "$scratch/sources/$module-$(basename "$file")"
  done
done
{
  echo 'struct PackageResources {'
  echo '  static let io_countdownd_Countdown_varlink: [UInt8] = ['
  od -An -v -tu1 Sources/ControlInterface/io.countdownd.Countdown.varlink | sed -E 's/ +([0-9]+)/\1,/g'
  echo ']}'
} > "$scratch/sources/Resources.swift"
swiftc -parse-as-library -O -g -swift-version 6 -use-ld=lld -sanitize=fuzzer,address \
  -package-name countdownd -enable-experimental-feature Lifetimes \
  -enable-upcoming-feature ExistentialAny -module-name VarlinkFuzzer \
  "$scratch"/sources/*.swift Tests/Fuzzing/Varlink/VarlinkFuzzer.swift -o "$scratch/varlink-fuzzer"
