#!/usr/bin/env bash
# Fetches the console's libraries anew into app/vendor, with their licences and sums. The one bare import of the hooks
# becomes a path, and the chart library, which is a script, a module: no import map is needed.
set -euo pipefail
cd "$(dirname "$0")/app/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() { (cd "$work" && npm pack --silent "$1@$2" >/dev/null && mkdir "$1" && tar -xzf "$1-$2.tgz" -C "$1" --strip-components 1); }
fetch preact 10.29.8
fetch htm 3.1.1
fetch uplot 1.6.32
sed '/sourceMappingURL/d' "$work/preact/dist/preact.module.js" >preact.js
sed -e 's/from"preact"/from".\/preact.js"/' -e '/sourceMappingURL/d' "$work/preact/hooks/dist/hooks.module.js" >hooks.js
cp "$work/htm/dist/htm.module.js" htm.js
{ cat "$work/uplot/dist/uPlot.iife.min.js" && printf '\nexport default uPlot;\n'; } >uPlot.js
cp "$work/uplot/dist/uPlot.min.css" uPlot.css
for name in preact htm uplot; do printf '%s\n\n' "== $name" && cat "$work/$name/LICENSE" && printf '\n'; done >LICENSES
sha256sum preact.js hooks.js htm.js uPlot.js uPlot.css LICENSES >SUMS
