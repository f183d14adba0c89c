#!/bin/bash
# docs.sh: builds the library's documentation in .build/docs from the debug build; warnings are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=.build/debug
rm -rf .build/symbols .build/docs
mkdir -p .build/symbols
swift symbolgraph-extract -module-name MultipartCore -minimum-access-level public -skip-synthesized-members \
  -target "$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -1)" \
  -I "$build/Modules" -I Sources/CCurl -I Sources/COpenSSL -I Sources/CExpat \
  -Xcc "-fmodule-map-file=$build/CKernels.build/module.modulemap" \
  -Xcc "-fmodule-map-file=$build/CTLS.build/module.modulemap" -output-dir .build/symbols
# The pages refer to files, so that they can be read in the repository; docc refers to pages and pictures by their names.
cp -r Sources/MultipartCore/MultipartCore.docc .build/symbols/
sed -Ei 's/\[[^]]*\]\((\w+)\.(md|tutorial)\)/<doc:\1>/g; s/\]\(Resources\//](/g' .build/symbols/MultipartCore.docc/*.md
docc convert .build/symbols/MultipartCore.docc --additional-symbol-graph-dir .build/symbols \
  --fallback-display-name MultipartCore --fallback-bundle-identifier MultipartCore --warnings-as-errors \
  --output-path .build/docs
