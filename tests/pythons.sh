#!/usr/bin/env bash
# The tests with every Python that is supported and found here: python3.12 and so on, those of uv, those of pyenv.
# tests/pythons.sh [WORDS OF PYTEST...]; FIRSTFAULT_PYTHONS names versions or paths. One that is missing is said, and is
# no failure; that none is found is one.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
uv=.venv/bin/uv
tested=() missing=() failed=()

interpreter() { # of a version; whatever answers first with that version
  local python
  for python in "/usr/bin/python$1" "$(command -v "python$1")" "$HOME"/.pyenv/versions/"$1"*/bin/python \
    "$($uv python find --no-python-downloads "$1" 2>/dev/null)"; do
    if [[ -x $python && $("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null) == "$1"* ]]; then
      echo "$python"
      return
    fi
  done
}

for version in ${FIRSTFAULT_PYTHONS:-3.11.2 3.12 3.13 3.14}; do
  if [[ $version == /* ]]; then python=$version; else python=$(interpreter "$version"); fi
  if [[ -z $python ]]; then
    missing+=("$version")
    continue
  fi
  venv=.venv-pythons/$version
  echo "== $version: $("$python" --version), $python"
  if $uv venv --quiet --clear --python "$python" "$venv" \
    && $uv pip install --quiet --python "$venv/bin/python" --require-hashes -r requirements-dev.lock \
    && $uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation -e . \
    && "$venv/bin/python" -m pytest --numprocesses=auto --dist=worksteal -p no:cacheprovider "$@"; then
    tested+=("$version")
  else
    failed+=("$version")
  fi
done

echo "tested: ${tested[*]:-none}; failed: ${failed[*]:-none}; not found here: ${missing[*]:-none}"
((${#tested[@]} && !${#failed[@]}))
