# Compiles the packages and the service below the current folder in place, and leaves out what only tests need. Run by the Dockerfile.
set -e
find packages services -name node_modules -prune -o \( -name '*.test.ts' -o -name test \) -prune -exec rm -rf {} +
for folder in packages/* services/*; do
  # Types were checked before. Names in imports and exports change from .ts to .js.
  printf '%s' '{"extends":"../../tsconfig.base.json","include":["src"],"compilerOptions":{"noEmit":false,"noCheck":true,"types":[],"rewriteRelativeImportExtensions":true,"rootDir":"src"}}' > "$folder/tsconfig.json"
  tsc -p "$folder"
  rm "$folder/tsconfig.json"
  sed -i -E 's#("\./src/[^"]*)\.ts"#\1.js"#' "$folder/package.json"
done
find packages services -name node_modules -prune -o \( -name '*.ts' -o -name tsconfig.json -o -name turbo.json -o -name '*.md' \) -print0 | xargs -0 rm
