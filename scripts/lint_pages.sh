#!/usr/bin/env bash
# Checks the scripts of the HTML pages with ESLint, by the rules in scripts/eslint.config.cjs. Needs Node 20 or newer with npm
# and a network: downloads ESLint from npm into a temporary directory.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
npm install --silent --no-audit --no-fund --prefix "$tools" eslint@9.39.1 @eslint/js@9.39.1 globals@16.5.0
NODE_PATH=$tools/node_modules "$tools/node_modules/.bin/eslint" --config scripts/eslint.config.cjs --max-warnings 0 \
    src/render/page src/serve/page src/export/page src/export/engine scripts/check_export.mjs
